import type { Clock } from "../../domain/ports/clock.ts";
import type { EventLog, Position } from "../../domain/ports/event-log.ts";
import type { ViewStore } from "../../domain/ports/view-store.ts";
import type { Projection } from "../../projections/projection.ts";
import { Projector, type ProjectorOptions } from "./projector.ts";
import { type ViewPosition, viewPositions } from "./view-positions.ts";

export type Progress = ViewPosition & {
  /** A lower bound for logs whose positions are no counts. */
  readonly lag_events: number;
  readonly lag_s: number;
};

export type ViewProgress = {
  /** True if it has reported lately and can read the log; a failing view shows in its lag. */
  healthy(): boolean;
  /** The progress is at most about a second old; after a failure it is the last known one. */
  progress(): Promise<readonly Progress[]>;
  onProgress(listener: (reached: readonly ViewPosition[]) => void): () => void;
  waitFor(views: readonly string[], position: Position, timeoutMs: number): Promise<boolean>;
  stop(): Promise<void>;
};

export type EventsBetween = (after: Position | null, upTo: Position) => number;

export const BEAT_MS = 1_000;
/** Several beats, so that a large page or a busy machine does not count as a failure. */
export const SILENCE_MAX_MS = 10_000;

const MS_PER_S = 1_000;

export const unknownProgress = (reached: readonly ViewPosition[]): readonly Progress[] =>
  reached.map((it) => ({ ...it, lag_events: 0, lag_s: 0 }));

export const measured = async (
  log: Pick<EventLog, "head" | "readAll">,
  reached: readonly ViewPosition[],
  clock: Clock,
  eventsBetween: EventsBetween,
): Promise<readonly Progress[]> => {
  const head = await log.head();
  const lags = new Map<Position | null, Pick<Progress, "lag_events" | "lag_s">>();
  for (const { position } of reached) {
    if (lags.has(position)) continue;
    const isBehind = head !== null && (position === null || position < head);
    // The rest of the log may be payloads, which views do not fold.
    const [next] = isBehind ? await log.readAll(position, 1, "records") : [];
    const ageMs = next === undefined ? 0 : clock.now() - Date.parse(next.meta.recorded_at);
    const lag_events = next !== undefined && head !== null ? Math.max(1, eventsBetween(position, head)) : 0;
    lags.set(position, { lag_events, lag_s: Math.max(0, ageMs / MS_PER_S) });
  }
  return reached.map((it) => ({ ...it, lag_events: 0, lag_s: 0, ...lags.get(it.position) }));
};

export type InlineProjectorOptions = ProjectorOptions & {
  readonly log: EventLog;
  readonly views: ViewStore;
  readonly projections: readonly Projection[];
  readonly clock: Clock;
  readonly eventsBetween?: EventsBetween;
  readonly onBeat?: (progress: readonly Progress[]) => void;
};

/** Resolves when the projector follows the log. The caller closes log and views. */
export const inlineProjector = async (options: InlineProjectorOptions): Promise<ViewProgress> => {
  const { log, views, projections, clock, eventsBetween = () => 1, onBeat } = options;
  const board = viewPositions(projections.map(({ schema }) => schema.name));
  const following = new Projector(log, views, projections, {
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
      progress = await measured(log, following.positions(), clock, eventsBetween);
      lastBeat = performance.now();
      onBeat?.(progress);
    } catch {
      // Without beats it counts as unhealthy, and the projector has reported the error.
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
