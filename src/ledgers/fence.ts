import { bundle } from "../../domain/bundle/decider.ts";
import { delivery } from "../../domain/delivery/decider.ts";
import type { EventLog } from "../../domain/ports/event-log.ts";
import type { Envelope, Fact } from "../streams/envelope.ts";
import { runCommand } from "../streams/run-command.ts";

type Fence<S, C, E extends Fact, R> = Omit<Parameters<typeof runCommand<S, C, E, R>>[1], "from">;

/** Appends a record with which every request that is still being decided on the stream conflicts. */
export const fenced = async <S extends object, C, E extends Fact, R>(
  log: EventLog,
  fence: Fence<S, C, E, R>,
): Promise<{ readonly isFenced: boolean; readonly state: S }> => {
  const ran = await runCommand(log, fence);
  return { isFenced: ran.outcome !== "rejected", state: ran.known.state };
};

/** Fences the admission of the event or bundle with this id. */
export const fencedAdmission = (log: EventLog, id: string, envelope: Envelope) => {
  const { at } = envelope;
  if (!id.startsWith("bun_")) {
    const command = { type: "Abandon", eventId: id, at } as const;
    return fenced(log, { decider: delivery, stream: `delivery-${id}`, command, envelope });
  }
  const command = { type: "Abandon", bundleId: id, at } as const;
  return fenced(log, { decider: bundle, stream: `bundle-${id}`, command, envelope });
};
