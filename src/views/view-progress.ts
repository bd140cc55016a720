import type { Clock } from "../../domain/ports/clock.ts";
import type { EventLog, Position } from "../../domain/ports/event-log.ts";
import type { ViewStore } from "../../domain/ports/view-store.ts";
import type { Projection } from "../../projections/projection.ts";
import { type ProjectorOptions, projector } from "./projector.ts";
import { type Reached, reachedPositions } from "./reached-positions.ts";

export type Progress = Reached & {
  /** Events that the view has not folded; a lower bound where positions are not counts. */
  readonly lag_events: number;
  readonly lag_s: number;
};

export type ViewProgress = {
  /** Whether it has reported lately and can read the log. A view that fails shows in its lag. */
  healthy(): boolean;
  /** At most about a second old. Never rejects: on failure it repeats the last known values. */
  progress(): Promise<readonly Progress[]>;
  onProgress(listener: (reached: readonly Reached[]) => void): () => void;
  /** Whether all these views reach `position` within the time. */
  waitFor(views: readonly string[], position: Position, timeoutMs: number): Promise<boolean>;
  stop(): Promise<void>;
};

export type Distance = (after: Position | null, upTo: Position) => number;

export const BEAT_MS = 1_000;
/** Several beats, so that a large page or a busy machine does not count as a failure. */
export const SILENCE_MAX_MS = 10_000;

const MS_PER_S = 1_000;

export const unknownProgress = (reached: readonly Reached[]): readonly Progress[] =>
  reached.map((it) => ({ ...it, lag_events: 0, lag_s: 0 }));

export const measured = async (
  log: Pick<EventLog, "head" | "readAll">,
  reached: readonly Reached[],
  clock: Clock,
  distance: Distance,
): Promise<readonly Progress[]> => {
  const head = await log.head();
  const lags = new Map<Position | null, Pick<Progress, "lag_events" | "lag_s">>();
  for (const { position } of reached) {
    if (lags.has(position)) continue;
    const isBehind = head !== null && (position === null || position < head);
    // The rest of the log may be payloads, which no view folds.
    const [next] = isBehind ? await log.readAll(position, 1, "records") : [];
    const ageMs = next === undefined ? 0 : clock.now() - Date.parse(next.meta.recorded_at);
    const lag_events = next !== undefined && head !== null ? Math.max(1, distance(position, head)) : 0;
    lags.set(position, { lag_events, lag_s: Math.max(0, ageMs / MS_PER_S) });
  }
  return reached.map((it) => ({ ...it, lag_events: 0, lag_s: 0, ...lags.get(it.position) }));
};

export type InlineProjectorOptions = ProjectorOptions & {
  readonly log: EventLog;
  readonly views: ViewStore;
  readonly projections: readonly Projection[];
  readonly clock: Clock;
  readonly distance?: Distance;
  readonly onBeat?: (progress: readonly Progress[]) => void;
};

/**
 * The projector in the calling thread: for tests, engines that do not block, and the projector's own thread. Resolves
 * when it follows the log; rejects if the store or the log cannot be used. The caller closes both.
 */
export const inlineProjector = async (options: InlineProjectorOptions): Promise<ViewProgress> => {
  const { log, views, projections, clock, distance = () => 1, onBeat } = options;
  const board = reachedPositions(projections.map(({ schema }) => schema.name));
  const following = projector(log, views, projections, {
    ...options,
    onProgress: (reached) => {
      board.record(reached);
      options.onProgress?.(reached);
    },
  });
  let progress = unknownProgress(board.all());
  let lastBeat = performance.now();
  let isMeasuring = false;

  const beat = async (): Promise<void> => {
    if (isMeasuring) return;
    isMeasuring = true;
    try {
      progress = await measured(log, following.positions(), clock, distance);
      lastBeat = performance.now();
      onBeat?.(progress);
    } catch {
      // Without a beat it counts as unhealthy; the projector has reported the error.
    } finally {
      isMeasuring = false;
    }
  };

  await following.start();
  await beat();
  const timer = setInterval(beat, BEAT_MS).unref();
  return {
    healthy: () => performance.now() - lastBeat < SILENCE_MAX_MS,
    progress: async () => progress,
    onProgress: board.onReached,
    waitFor: board.waitFor,
    async stop() {
      clearInterval(timer);
      await following.stop();
    },
  };
};
