import { once } from "node:events";
import { extname } from "node:path";
import { Worker } from "node:worker_threads";
import { PROJECTIONS } from "../../projections/all.ts";
import type { Projection } from "../../projections/projection.ts";
import type { EngineLocations } from "../engine/open-engines.ts";
import type { MapCandidate } from "../evidence/key-maps.ts";
import type { Unsealed } from "../evidence/unsealed.ts";
import type { RecentRecords, RecordSource } from "../following/recent-records.ts";
import type { ProjectorFailure } from "./projector.ts";
import type { FromProjector, ProjectorData, ToProjector } from "./projector-protocol.ts";
import type { DropReason } from "./view-follower.ts";
import { unknownLags } from "./view-lag.ts";
import { viewPositions } from "./view-positions.ts";
import { SILENCE_MAX_MS, type ViewProgress } from "./view-progress.ts";

export type ProjectorThreadOptions = {
  readonly locations: EngineLocations;
  /** The file into which the evidence is folded; null or absent if this thread does not fold it. */
  readonly evidence?: string | null;
  readonly module?: { readonly url: string; readonly projections: readonly Projection[] };
  readonly options?: ProjectorData["options"];
  readonly onError?: (failure: ProjectorFailure) => void;
  readonly onDropped?: (views: readonly string[], reason: DropReason) => void;
  readonly onThread?: (worker: Worker) => void;
  /** A key map that is to be sealed. */
  readonly onMap?: (candidate: MapCandidate) => void;
  /** Is given the records of a log on a server, as the thread reads them. */
  readonly recent?: RecentRecords | null;
};

/**
 * V8 fills a third of it between two collections. That holds a page of records and what is made of it, so that most of both
 * is garbage by then. With half of it, folding takes 15 % more processor time; with twice as much, 8 % less.
 */
const YOUNG_MB = 48;
/** The pause before a restart; it doubles with each thread that ends before it was ready. */
const RESTART_MIN_MS = 100;
const RESTART_MAX_MS = 30_000;

/** A thread that folds a large page, or a long log for the first time, answers late. */
const UNSEALED_MS = 5_000;

const neighbour = (path: string): string => new URL(`${path}${extname(import.meta.url)}`, import.meta.url).href;

/** Under load the thread is told of appends at most this often (ms). */
const APPENDED_MS = 10;

const appendedSource = (tell: (message: ToProjector) => void): RecordSource => {
  let toldAt = Number.NEGATIVE_INFINITY;
  let isDue = false;
  const tellNow = (): void => {
    isDue = false;
    toldAt = performance.now();
    tell({ kind: "appended" });
  };
  return {
    wake() {
      if (isDue) return;
      if (performance.now() - toldAt >= APPENDED_MS) return tellNow();
      isDue = true;
      setTimeout(tellNow, APPENDED_MS).unref();
    },
    choose: (types, choice) => tell({ kind: "choose", types, choice }),
  };
};

export type ProjectorThread = ViewProgress & {
  /** What is folded of the log's present records and not sealed; null if the thread does not answer in time. */
  unsealed(): Promise<Unsealed | null>;
};

type Question = (unsealed: Unsealed | null) => void;

/** Questions to the thread. One without an answer, as when the thread has ended, is answered with null. */
const questions = (ask: (question: number) => void) => {
  const waiting = new Map<number, Question>();
  let asked = 0;
  const answer = (question: number, unsealed: Unsealed | null): void => {
    waiting.get(question)?.(unsealed);
    waiting.delete(question);
  };
  return {
    answer,
    ask: (): Promise<Unsealed | null> =>
      new Promise((resolve) => {
        asked += 1;
        const question = asked;
        const timer = setTimeout(() => answer(question, null), UNSEALED_MS).unref();
        waiting.set(question, (unsealed) => {
          clearTimeout(timer);
          resolve(unsealed);
        });
        ask(question);
      }),
  };
};

/** Folds in a thread, so that folding delays no request. Resolves once the projector follows the log. */
export const projectorThread = async (given: ProjectorThreadOptions): Promise<ProjectorThread> => {
  const { locations, module, options = {}, onError = console.error, onDropped, onThread, recent } = given;
  const projections = module?.projections ?? PROJECTIONS;
  const projectionsUrl = module?.url ?? neighbour("../../projections/all");
  const data: ProjectorData = { locations, evidence: given.evidence ?? null, projectionsUrl, options };
  const tell = (message: ToProjector): void => thread?.postMessage(message);
  const hurry = (): void => tell({ kind: "hurry" });
  const board = viewPositions(
    projections.map(({ schema }) => schema.name),
    hurry,
  );
  let progress = unknownLags(board.all());
  let lastBeat = performance.now();
  let failures = 0;
  let isOpen = false;
  let isStopping = false;
  let restart: NodeJS.Timeout | undefined;
  let thread: Worker | null = null;

  const hear = (message: FromProjector): void => {
    if (message.kind === "records") {
      recent?.offer(message, message.choice);
      recent?.looked(message.upTo, message.choice);
    } else if (message.kind === "looked") recent?.looked(message.at, message.choice);
    else if (message.kind === "reached") board.record(message.reached);
    else if (message.kind === "beat") {
      progress = message.progress;
      lastBeat = performance.now();
    } else if (message.kind === "map") given.onMap?.(message.candidate);
    else if (message.kind === "unsealed") asking.answer(message.question, message.unsealed);
    else if (message.kind === "dropped") onDropped?.(message.views, message.reason);
    else if (message.kind === "failed") {
      const { text, ...failure } = message.failure;
      onError({ ...failure, error: new Error(text) });
    }
  };

  const source = appendedSource(tell);
  const asking = questions((question) => tell({ kind: "unsealed", question }));

  const run = (): Promise<void> =>
    new Promise((started, failed) => {
      const worker = new Worker(new URL(neighbour("./projector-worker")), {
        workerData: data,
        name: "projector",
        resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
      });
      thread = worker;
      recent?.feedFrom(source);
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
    // A rejection needs no handling here: if this thread ends as well, its exit handler schedules the next restart.
    restart = setTimeout(() => run().catch(() => undefined), retryInMs);
  };

  await run();
  isOpen = true;
  return {
    healthy: () => thread !== null && performance.now() - lastBeat < SILENCE_MAX_MS,
    progress: async () => progress,
    onProgress: board.onReached,
    lowest: board.lowest,
    waitFor: board.waitFor,
    unsealed: asking.ask,
    async stop() {
      isStopping = true;
      clearTimeout(restart);
      if (thread === null) return;
      const exit = once(thread, "exit");
      tell({ kind: "stop" });
      await exit;
    },
  };
};
