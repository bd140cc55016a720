import type { Decider } from "../../domain/decider.ts";
import type { EventLog } from "../../domain/ports/event-log.ts";
import type { Envelope, Fact } from "../streams/envelope.ts";
import { runCommand } from "../streams/run-command.ts";

/** Appends a record with which every request that is still being decided on the stream conflicts. `isFenced` is false
 * if the stream was decided before; `state` is the state after the command. */
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
