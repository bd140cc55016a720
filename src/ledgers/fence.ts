import type { EventLog } from "../../domain/ports/event-log.ts";
import type { Fact } from "../streams/envelope.ts";
import { runCommand } from "../streams/run-command.ts";

type Fence<S, C, E extends Fact, R> = Omit<Parameters<typeof runCommand<S, C, E, R>>[1], "from">;

/** Every request that is still being decided on the stream conflicts with the record appended here. */
export const fenced = async <S extends object, C, E extends Fact, R>(
  log: EventLog,
  fence: Fence<S, C, E, R>,
): Promise<{ readonly isFenced: boolean; readonly state: S }> => {
  const ran = await runCommand(log, fence);
  return { isFenced: ran.outcome !== "rejected", state: ran.known.state };
};
