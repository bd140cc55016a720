import type { AppendOutcome, Expected, Position, Revision } from "../../domain/ports/event-log.ts";
import { errorMessage } from "../error-message.ts";
import { AppendTooLarge, LogUnavailable, OutcomeUnknown } from "../log-errors.ts";
import { attempts } from "./attempts.ts";
import {
  type AppendAnswer,
  type Connection,
  ConnectionFailure,
  type Cursor,
  type ProposedEvent,
} from "./connection.ts";
import { type Deadline, deadlineIn, type Limits, pauses } from "./limits.ts";
import type { Pages } from "./pages.ts";
import { positionOf } from "./positions.ts";
import { NO_ORDER, type SendOrder } from "./send-order.ts";
import { erasedIn, isErased, readMetadata } from "./stream-metadata.ts";

type Append = {
  readonly stream: string;
  readonly expected: Exclude<Expected, "any">;
  readonly events: readonly ProposedEvent[];
};

type SentAppend = { readonly answered: AppendAnswer; readonly mayStand: boolean };

const VISIBLE_PAUSE_MS = 2;

export const bytesOf = (events: readonly ProposedEvent[]): number =>
  events.reduce((bytes, { type, data, meta }) => bytes + type.length + data.length + (meta?.length ?? 0), 0);

const lastRevisionOf = ({ expected, events }: Append): Revision =>
  (expected === "absent" ? -1 : expected) + events.length;

/** A try with an unknown outcome is repeated with the same ids and revision, by which the server recognises it. */
export type ExactAppends = (append: Append, deadline?: Deadline) => Promise<AppendOutcome>;

export const exactAppends = (
  connection: Connection,
  pages: Pages,
  limits: Limits,
  order: SendOrder = NO_ORDER,
): ExactAppends => {
  const send = async ({ stream, expected, events }: Append, deadline: Deadline): Promise<SentAppend> => {
    const unreachable = deadlineIn(Math.min(limits.unreachableMs, deadline.leftMs()));
    const pause = pauses();
    const turn = order.begin();
    let mayStand = false;
    for (;;) {
      try {
        const answered = await turn.take(() => {
          const timeoutMs = Math.min(limits.appendTryMs, deadline.leftMs());
          return connection.append(stream, expected, events, timeoutMs);
        });
        return { answered, mayStand };
      } catch (error) {
        if (error instanceof LogUnavailable && mayStand) throw new OutcomeUnknown(error.message);
        if (!(error instanceof ConnectionFailure)) throw error;
        turn.again();
        mayStand ||= error.kind === "unknown";
        const { leftMs } = mayStand ? deadline : unreachable;
        if (error.kind === "refused" || !(await pause(leftMs()))) {
          turn.giveUp();
          throw mayStand ? new OutcomeUnknown(error.message) : new LogUnavailable(error.message);
        }
      }
    }
  };

  /** Whether the server reports the last event's position for an append of several; null until one was compared. */
  let reportsLast: boolean | null = null;

  /** The last event is read: of several, the server may report the position of any one, and none for a repeat. */
  const placeOf = async (
    stream: string,
    revision: Revision,
    reported: Cursor | null,
    deadline: Deadline,
  ): Promise<Position> => {
    const reading = attempts(limits, deadline.leftMs());
    const [event] = await reading((idleMs) => pages.stream(stream, revision, 1, idleMs));
    if (event?.revision === revision) return positionOf(event.at);
    const erased = erasedIn(await reading((idleMs) => readMetadata(pages, stream, idleMs)));
    if (erased?.revision === revision) return erased.position;
    if (reported !== null) return positionOf(reported);
    // An operator has hidden the event by metadata, so the log's end is returned: whoever has read the log up to there
    // has passed the event.
    const { events } = await reading((idleMs) => pages.allBefore("end", 1, idleMs));
    const [last] = events;
    if (last === undefined) throw new Error(`${stream} was written, and the log is empty`);
    return positionOf(last.at);
  };

  const appendedAt = async (append: Append, reported: Cursor | null, deadline: Deadline): Promise<AppendOutcome> => {
    const revision = lastRevisionOf(append);
    const isOfLast = append.events.length === 1 || reportsLast === true;
    if (reported !== null && isOfLast) return { outcome: "appended", revision, position: positionOf(reported) };
    const position = await placeOf(append.stream, revision, reported, deadline);
    if (reported !== null) reportsLast ??= positionOf(reported) === position;
    return { outcome: "appended", revision, position };
  };

  const isVisible = async (stream: string, revision: Revision, idleMs: number): Promise<boolean> => {
    const [last] = await pages.newest(stream, 1, idleMs);
    if (last !== undefined) return last.revision >= revision;
    return isErased((await readMetadata(pages, stream, idleMs)).fields, revision);
  };

  /** Waits: the server may report a conflict before the conflicting event can be read, and the caller reads it next. */
  const untilVisible = async (stream: string, actual: Revision | "absent", deadline: Deadline): Promise<void> => {
    if (actual === "absent") return;
    const visible = deadlineIn(Math.min(limits.visibleMs, deadline.leftMs() / 2));
    const pause = pauses(VISIBLE_PAUSE_MS);
    try {
      const reading = attempts(limits, visible.leftMs());
      while (!(await reading((idleMs) => isVisible(stream, actual, idleMs)))) {
        if (!(await pause(visible.leftMs()))) return;
      }
    } catch {}
  };

  const stands = async ({ stream, expected, events }: Append, deadline: Deadline): Promise<boolean> => {
    const first = expected === "absent" ? 0 : expected + 1;
    const reading = attempts(limits, deadline.leftMs());
    const there = await reading((idleMs) => pages.stream(stream, first, events.length, idleMs));
    return events.every(({ id }, index) => id === there[index]?.id && there[index]?.revision === first + index);
  };

  const outcomeOf = async (
    append: Append,
    { answered, mayStand }: SentAppend,
    deadline: Deadline,
  ): Promise<AppendOutcome> => {
    switch (answered.outcome) {
      case "too-large":
        throw new AppendTooLarge(bytesOf(append.events), answered.bytesMax);
      case "conflict":
        await untilVisible(append.stream, answered.actual, deadline);
        return mayStand && (await stands(append, deadline)) ? appendedAt(append, null, deadline) : answered;
      case "appended":
        return appendedAt(append, answered.at, deadline);
    }
  };

  return async (append, deadline = deadlineIn(limits.appendMs)) => {
    const sent = await send(append, deadline);
    try {
      return await outcomeOf(append, sent, deadline);
    } catch (error) {
      throw error instanceof AppendTooLarge ? error : new OutcomeUnknown(errorMessage(error));
    }
  };
};
