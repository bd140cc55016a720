import { once } from "node:events";
import { extname } from "node:path";
import { Worker } from "node:worker_threads";
import { PROJECTIONS } from "../../projections/all.ts";
import type { Projection } from "../../projections/projection.ts";
import type { Places } from "../engine/engines.ts";
import type { ProjectorFailure } from "./projector.ts";
import type { FromProjector, ProjectorData, ToProjector } from "./projector-protocol.ts";
import { reachedPositions } from "./reached-positions.ts";
import type { DropReason } from "./view-follower.ts";
import { SILENCE_MAX_MS, unknownProgress, type ViewProgress } from "./view-progress.ts";

export type ProjectorThreadOptions = {
  /** The log, which must be there; the views are made if they are not. */
  readonly places: Places;
  /** Where the thread is to take other projections from than `projections/all.ts`: a module that exports `PROJECTIONS`. */
  readonly module?: { readonly url: string; readonly projections: readonly Projection[] };
  readonly options?: ProjectorData["options"];
  readonly onError?: (failure: ProjectorFailure) => void;
  /** The views that a thread has dropped when it started, once for each reason. */
  readonly onDropped?: (views: readonly string[], reason: DropReason) => void;
  /** Each thread as it is started. */
  readonly onThread?: (worker: Worker) => void;
};

export type ProjectorThread = ViewProgress;

/** A page and its documents; the large young generation that `npm start` gives is meant for the thread that answers. */
const YOUNG_MB = 24;
/** A thread that ended is started again after this, and after twice as long each time it ends before it has begun. */
const RESTART_MIN_MS = 100;
const RESTART_MAX_MS = 30_000;

/** The program of the thread, a neighbour of this file: compiled or not, it ends as this file does. */
const neighbour = (path: string): string => new URL(`${path}${extname(import.meta.url)}`, import.meta.url).href;

/**
 * The projector in a thread of its own, so that folding delays no request. Resolves when it
 * follows the log; throws when the engines cannot be used, with the sentence that says why. A thread that crashes later
 * is reported and started again.
 */
export const projectorThread = async (given: ProjectorThreadOptions): Promise<ProjectorThread> => {
  const { places, module, options = {}, onError = console.error, onDropped, onThread } = given;
  const projections = module?.projections ?? PROJECTIONS;
  const projectionsUrl = module?.url ?? neighbour("../../projections/all");
  const data: ProjectorData = { places, projectionsUrl, options };
  const board = reachedPositions(projections.map(({ schema }) => schema.name));
  let progress = unknownProgress(board.all());
  let lastBeat = performance.now();
  let failures = 0;
  /** Until the first thread has begun an end is the caller's to know, and no other thread would do better. */
  let isOpen = false;
  let isStopping = false;
  let restart: NodeJS.Timeout | undefined;
  let thread: Worker | null = null;

  const hear = (message: FromProjector): void => {
    if (message.kind === "reached") board.record(message.reached);
    else if (message.kind === "beat") {
      progress = message.progress;
      lastBeat = performance.now();
    } else if (message.kind === "dropped") onDropped?.(message.views, message.reason);
    else if (message.kind === "failed") {
      const { text, ...failure } = message.failure;
      onError({ ...failure, error: new Error(text) });
    }
  };

  /** Resolves when the thread follows the log, and rejects when it ends before that. */
  const run = (): Promise<void> =>
    new Promise((started, failed) => {
      const worker = new Worker(new URL(neighbour("./projector-worker")), {
        workerData: data,
        name: "projector",
        resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
      });
      thread = worker;
      let error: unknown = new Error("the projector's thread has ended");
      worker.on("message", (message: FromProjector) => {
        hear(message);
        if (message.kind !== "started") return;
        failures = 0;
        started();
      });
      worker.on("error", (cause) => {
        error = cause;
      });
      worker.on("exit", () => {
        thread = null;
        failed(error);
        if (isOpen) again(error);
      });
      onThread?.(worker);
    });

  const again = (error: unknown): void => {
    if (isStopping) return;
    const retryInMs = Math.min(RESTART_MAX_MS, RESTART_MIN_MS * 2 ** Math.min(failures, 20));
    failures += 1;
    onError({ view: null, position: null, error, retryInMs });
    // The exit of the next one comes back here.
    restart = setTimeout(() => run().catch(() => undefined), retryInMs);
  };

  await run();
  isOpen = true;
  return {
    healthy: () => thread !== null && performance.now() - lastBeat < SILENCE_MAX_MS,
    progress: async () => progress,
    onProgress: board.onReached,
    waitFor: board.waitFor,
    async stop() {
      isStopping = true;
      clearTimeout(restart);
      if (thread === null) return;
      const exit = once(thread, "exit");
      thread.postMessage({ kind: "stop" } satisfies ToProjector);
      await exit;
    },
  };
};
