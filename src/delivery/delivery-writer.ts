import { iso } from "../../domain/calendar.ts";
import type { DeliveryCommand } from "../../domain/delivery/commands.ts";
import { delivery } from "../../domain/delivery/decider.ts";
import type { Clock } from "../../domain/ports/clock.ts";
import type { EventLog } from "../../domain/ports/event-log.ts";
import type { Randomness } from "../../domain/ports/randomness.ts";
import { randomId } from "../../infra/crypto/ids.ts";
import { type Envelope, systemEnvelope, type Trace } from "../streams/envelope.ts";
import { runCommand } from "../streams/run-command.ts";
import type { LoadedJob } from "./loaded-job.ts";

/** If the last try fails as well, the lease runs out and the event is sent again under its `webhook-id`. */
const TRIES_MAX = 4;
const BACKOFF_MS = 500;

/** An outcome that is not recorded means a second request, so a log that fails for a moment is waited for. */
export const withRetries = async <T>(write: () => Promise<T>): Promise<T> => {
  for (let tried = 1; ; tried += 1) {
    try {
      return await write();
    } catch (error) {
      if (tried >= TRIES_MAX) throw error;
      await new Promise((resolve) => setTimeout(resolve, BACKOFF_MS * tried));
    }
  }
};

type WriterDeps = { readonly log: EventLog; readonly clock: Clock; readonly randomness: Randomness };

export class DeliveryWriter {
  readonly #deps: WriterDeps;

  constructor(deps: WriterDeps) {
    this.#deps = deps;
  }

  run({ job, known, trace }: LoadedJob, command: DeliveryCommand, envelope = this.envelope(job.account, trace)) {
    const stream = `delivery-${job.eventId}`;
    return runCommand(this.#deps.log, { decider: delivery, stream, from: known, command, envelope });
  }

  envelope(account: string, trace: Trace): Envelope {
    const { randomness, clock } = this.#deps;
    const commandId = randomId("cmd_", randomness);
    return systemEnvelope({ actor: "deliverer", commandId, account, trace, at: iso(clock.now()) });
  }
}
