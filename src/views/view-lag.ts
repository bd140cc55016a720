import type { Clock } from "../../domain/ports/clock.ts";
import type { EventLog, Position } from "../../domain/ports/event-log.ts";
import { numberOf } from "../../infra/event-log-arguments.ts";
import type { LogLocation } from "../engine/open-engines.ts";
import type { ViewPosition } from "./view-positions.ts";

export type ViewLag = ViewPosition & {
  /** The events that the view has not folded, or a lower bound if the log's positions are no counts. */
  readonly lag_events: number;
  readonly lag_s: number;
};

export type EventsBetween = (after: Position | null, upTo: Position) => number;

/** The embedded log's positions count events. Those of EventStoreDB are offsets in bytes, so any lag counts as 1. */
export const eventsBetweenIn = ({ engine }: LogLocation): EventsBetween =>
  engine === "sqlite" ? (after, upTo) => numberOf(upTo) - numberOf(after) : () => 1;

const MS_PER_S = 1_000;

export const unknownLags = (reached: readonly ViewPosition[]): readonly ViewLag[] =>
  reached.map((it) => ({ ...it, lag_events: 0, lag_s: 0 }));

export const lagsOf = async (
  log: Pick<EventLog, "head" | "readAll">,
  reached: readonly ViewPosition[],
  clock: Clock,
  eventsBetween: EventsBetween,
): Promise<readonly ViewLag[]> => {
  const head = await log.head();
  const lags = new Map<Position | null, Pick<ViewLag, "lag_events" | "lag_s">>();
  for (const { position } of reached) {
    if (lags.has(position)) continue;
    const isBehind = head !== null && (position === null || position < head);
    // A view at an older position does not lag if only payloads follow, which no view folds.
    const [next] = isBehind ? await log.readAll(position, 1, "records") : [];
    const ageMs = next === undefined ? 0 : clock.now() - Date.parse(next.meta.recorded_at);
    const lag_events = next !== undefined && head !== null ? Math.max(1, eventsBetween(position, head)) : 0;
    lags.set(position, { lag_events, lag_s: Math.max(0, ageMs / MS_PER_S) });
  }
  return reached.map((it) => ({ ...it, lag_events: 0, lag_s: 0, ...lags.get(it.position) }));
};
