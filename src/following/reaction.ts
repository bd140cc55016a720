import { type DataOf, dataOf, type EventType } from "../../domain/events.ts";
import type { RecordedEvent } from "../../domain/ports/event-log.ts";

export type NotYet = { readonly waitsFor: string };

/**
 * A reaction must be idempotent: the same event is given to it again after a crash and after it has answered `NotYet`.
 * It may return early once `isStopping` is true, because the event is then given again after the next start.
 */
export type Reaction = {
  readonly on: string;
  // biome-ignore lint/suspicious/noConfusingVoidType: most reactions never wait, and return nothing.
  run(event: RecordedEvent, isStopping?: () => boolean): Promise<NotYet | void>;
};

export const reaction = <T extends EventType>(
  on: T,
  run: (data: DataOf<T>, cause: RecordedEvent) => Promise<void>,
): Reaction => ({ on, run: (cause) => run(dataOf(on, cause), cause) });
