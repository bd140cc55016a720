import type { Clock } from "../../domain/ports/clock.ts";
import type { EventLog, Position } from "../../domain/ports/event-log.ts";
import type { ViewStore } from "../../domain/ports/view-store.ts";
import type { Projection } from "../../projections/projection.ts";
import { Projector, type ProjectorOptions } from "./projector.ts";
import { type EventsBetween, lagsOf, unknownLags, type ViewLag } from "./view-lag.ts";
import { type ViewPosition, viewPositions } from "./view-positions.ts";

export type ViewProgress = {
  /** True if it has reported lately and can read the log; a failing view shows in its lag. */
  healthy(): boolean;
  /** The progress is at most about a second old; after a failure it is the last known one. */
  progress(): Promise<readonly ViewLag[]>;
  onProgress(listener: (reached: readonly ViewPosition[]) => void): () => void;
  waitFor(views: readonly string[], position: Position, timeoutMs: number): Promise<boolean>;
  stop(): Promise<void>;
};

export const BEAT_MS = 1_000;
/** Several beats, so that a large page or a busy machine does not count as a failure. */
export const SILENCE_MAX_MS = 10_000;

export type InlineProjectorOptions = ProjectorOptions & {
  readonly log: EventLog;
  readonly views: ViewStore;
  readonly projections: readonly Projection[];
  readonly clock: Clock;
  readonly eventsBetween?: EventsBetween;
  readonly onBeat?: (progress: readonly ViewLag[]) => void;
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
  let progress = unknownLags(board.all());
  let lastBeat = performance.now();
  let isMeasuring = false;

  const beat = async (): Promise<void> => {
    if (isMeasuring) return;
    isMeasuring = true;
    try {
      progress = await lagsOf(log, following.positions(), clock, eventsBetween);
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
