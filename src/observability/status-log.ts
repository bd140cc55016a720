import type { Clock } from "../../domain/ports/clock.ts";
import type { EventLog } from "../../domain/ports/event-log.ts";
import type { Randomness } from "../../domain/ports/randomness.ts";
import { randomId } from "../../infra/crypto/ids.ts";
import { type Health, STATUS_STREAM, type StatusObserved } from "../../projections/status.ts";
import { systemEnvelope, toEvents } from "../streams/envelope.ts";

export type StatusLogDeps = {
  readonly log: Pick<EventLog, "append">;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly look: () => Promise<Health>;
};

/** Records the present health. From these records the public status page shows its days, and gaps without a record. */
export const statusLog =
  ({ log, clock, randomness, look }: StatusLogDeps) =>
  async (): Promise<void> => {
    const status = await look();
    const at = new Date(clock.now()).toISOString();
    const observed: StatusObserved = { type: "StatusObserved", data: { status, at } };
    const envelope = systemEnvelope({ actor: "status", commandId: randomId("sta_", randomness), at });
    await log.append(STATUS_STREAM, "any", toEvents([observed], envelope));
  };
