import type { Decider } from "../../domain/decider.ts";
import type { EventLog } from "../../domain/ports/event-log.ts";
import type { Envelope, Fact } from "../streams/envelope.ts";
import { runCommand } from "../streams/run-command.ts";

/**
 * Fences requests that are still to decide on a stream: they conflict with the record. `isFenced` is false if it was decided
 * before. `state` is what the stream says by then.
 */
export const fenced = async <S extends object, C, E extends Fact, R>(
  log: EventLog,
  decider: Decider<S, C, E, R>,
  stream: string,
  command: C,
  envelope: Envelope,
): Promise<{ readonly isFenced: boolean; readonly state: S }> => {
  const ran = await runCommand(log, { decider, stream, command, envelope });
  return { isFenced: ran.outcome !== "rejected", state: ran.known.state };
};
