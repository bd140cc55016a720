import type { Clock } from "../../domain/ports/clock.ts";
import type { EventLog } from "../../domain/ports/event-log.ts";
import type { ViewStore } from "../../domain/ports/view-store.ts";
import { withTimeout } from "../../infra/with-timeout.ts";
import { hasRecord } from "../following/log-cursor.ts";
import { type EventsBetween, lagsOf, unknownLags, type ViewLag } from "./view-lag.ts";
import { lowestOf, type ViewPosition } from "./view-positions.ts";
import { BEAT_MS, type ViewProgress } from "./view-progress.ts";

export type WatchedViewsOptions = {
  readonly log: Pick<EventLog, "head" | "readAll" | "identity" | "read">;
  readonly views: Pick<ViewStore, "origin">;
  readonly names: readonly string[];
  readonly clock: Clock;
  readonly eventsBetween?: EventsBetween;
};

const LOOK_MS = 25;
const MEASURE_MS = 2_000;

export const watchedViews = (options: WatchedViewsOptions): ViewProgress => {
  const { log, views, names, clock, eventsBetween = () => 1 } = options;
  let latest = unknownLags(names.map((view) => ({ view, position: null })));
  let measuredAt = Number.NEGATIVE_INFINITY;
  let measuring: Promise<readonly ViewLag[]> | null = null;

  const claimed = new Set<string>();

  /** The position is null unless this log has its record, because the view may still be that of another log. */
  const reachedOf = async (view: string): Promise<ViewPosition> => {
    const [identity, origin] = await Promise.all([log.identity(), views.origin(view)]);
    if (origin?.log !== identity || origin.last === null) return { view, position: null };
    if (!claimed.has(view)) {
      if (!(await hasRecord(log, origin.last))) return { view, position: null };
      claimed.add(view);
    }
    return { view, position: origin.last.position };
  };

  const measure = async (): Promise<readonly ViewLag[]> => {
    try {
      latest = await lagsOf(log, await Promise.all(names.map(reachedOf)), clock, eventsBetween);
      measuredAt = performance.now();
      return latest;
    } finally {
      measuring = null;
    }
  };

  return {
    healthy: () => true,
    async progress() {
      if (performance.now() - measuredAt < BEAT_MS) return latest;
      measuring ??= measure();
      return withTimeout(MEASURE_MS, "the views cannot be measured", measuring).catch(() => latest);
    },
    onProgress: () => () => undefined,
    lowest: () => lowestOf(latest.map(({ position }) => position)),
    async waitFor(wanted, position, timeoutMs) {
      const end = performance.now() + timeoutMs;
      for (;;) {
        const reached = await Promise.all(wanted.map(reachedOf));
        if (reached.every((it) => it.position !== null && it.position >= position)) return true;
        if (performance.now() >= end) return false;
        await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
      }
    },
    stop: async () => undefined,
  };
};
