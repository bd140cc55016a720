import type { Clock } from "../../domain/ports/clock.ts";
import type { EventLog, Position } from "../../domain/ports/event-log.ts";
import type { ViewStore } from "../../domain/ports/view-store.ts";
import type { Projection } from "../../projections/projection.ts";
import { Projector, type ProjectorOptions } from "./projector.ts";
import { type EventsBetween, lagsOf, unknownLags, type ViewLag } from "./view-lag.ts";
import { type ViewPosition, viewPositions } from "./view-positions.ts";

export type ViewProgress = {
  /** True if the projector has reported lately and can read the log. A view that fails shows only in its lag. */
  healthy(): boolean;
  /** Where the views are, at most about a second ago, or since when nothing was appended; after a failure, what was last known. */
  progress(): Promise<readonly ViewLag[]>;
  onProgress(listener: (reached: readonly ViewPosition[]) => void): () => void;
  /** What all views show by now, or more; null while that is unknown. */
  lowest(): Position | null;
  waitFor(views: readonly string[], position: Position, timeoutMs: number): Promise<boolean>;
  stop(): Promise<void>;
};

export const BEAT_MS = 1_000;
/** While nothing is appended, only each fourth beat looks and is heard, as each wakes two threads of an idle process. */
const QUIET_BEATS = 4;
/** A projector silent for longer counts as failed: several beats, as a large page or a busy machine delays one. */
export const SILENCE_MAX_MS = 10_000;

/** `hurry`: another thread waits for a position. */
export type InlineProjector = ViewProgress & { hurry(): void };

export type InlineProjectorOptions = ProjectorOptions & {
  readonly log: EventLog;
  readonly views: ViewStore;
  readonly projections: readonly Projection[];
  readonly clock: Clock;
  readonly eventsBetween?: EventsBetween;
  readonly onBeat?: (progress: readonly ViewLag[]) => void;
};

/** Resolves once the projector follows the log. `stop` closes neither log nor views, which the caller has to do. */
export const inlineProjector = async (options: InlineProjectorOptions): Promise<InlineProjector> => {
  const { log, views, projections, clock, eventsBetween = () => 1, onBeat } = options;
  const board = viewPositions(
    projections.map(({ schema }) => schema.name),
    () => following.hurry(),
  );
  /** Whether the lags may be others than at the last beat, and how many beats have passed without that. */
  let isNews = true;
  let quietBeats = 0;
  const stopHearing = log.onAppended(() => {
    isNews = true;
  });
  const following: Projector = new Projector(log, views, projections, {
    ...options,
    onProgress: (reached) => {
      isNews = true;
      board.record(reached);
      options.onProgress?.(reached);
    },
  });
  let progress = unknownLags(board.all());
  let lastBeat = performance.now();
  let isMeasuring = false;

  const beat = async (): Promise<void> => {
    quietBeats = isNews ? 0 : quietBeats + 1;
    if (isMeasuring || quietBeats % QUIET_BEATS !== 0) return;
    isMeasuring = true;
    isNews = false;
    try {
      progress = await lagsOf(log, following.positions(), clock, eventsBetween);
      if (progress.some(({ lag_events }) => lag_events > 0)) isNews = true;
      lastBeat = performance.now();
      onBeat?.(progress);
    } catch {
      // The projector itself has reported the error; without beats, it soon counts as unhealthy.
      isNews = true;
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
    lowest: board.lowest,
    waitFor: board.waitFor,
    hurry: () => following.hurry(),
    async stop() {
      clearInterval(timer);
      stopHearing();
      await following.stop();
    },
  };
};
