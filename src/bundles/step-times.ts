import { isEvent } from "../../domain/events.ts";
import type { EventLog, RecordedEvent } from "../../domain/ports/event-log.ts";
import { bundleStream } from "../streams/bundle-id.ts";
import { type Foldable, foldStream } from "../streams/run-command.ts";

/** When a step and its undo began and ended, ISO 8601; null for what has not come, or never will. */
export type StepTimes = {
  readonly started_at: string | null;
  readonly ended_at: string | null;
  readonly undo_started_at: string | null;
  /** When the rollback was done with the step, however that ended and also if it needed no undo. */
  readonly undo_ended_at: string | null;
  /** The same, or later the time at which a person marked the step as undone by hand. */
  readonly undone_at: string | null;
};

export const NO_TIMES: StepTimes = {
  started_at: null,
  ended_at: null,
  undo_started_at: null,
  undo_ended_at: null,
  undone_at: null,
};

type Times = ReadonlyMap<number, StepTimes>;

const timeIn = (event: RecordedEvent): Partial<StepTimes> | null => {
  if (isEvent(event, "StepStarted")) return { started_at: event.data.at };
  if (isEvent(event, "StepEnded", "StepRefused")) return { ended_at: event.data.at };
  if (isEvent(event, "UndoStarted")) return { undo_started_at: event.data.at };
  if (isEvent(event, "StepUndone")) return { undo_ended_at: event.data.at, undone_at: event.data.at };
  if (isEvent(event, "StepResolved")) return { undone_at: event.data.at };
  return null;
};

const stepTimes: Foldable<Times, RecordedEvent> = {
  initial: new Map(),
  evolve(all, event) {
    const time = timeIn(event);
    if (time === null) return all;
    const index = Number(event.data.index);
    return new Map([...all, [index, { ...NO_TIMES, ...all.get(index), ...time }]]);
  },
};

/** The times of the bundle's steps, by their indexes. */
export const stepTimesOf = async (log: Pick<EventLog, "read">, bundleId: string): Promise<Times> =>
  (await foldStream(log, stepTimes, bundleStream(bundleId))).state;
