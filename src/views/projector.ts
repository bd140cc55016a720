import { setTimeout as sleep, setImmediate as yieldToOthers } from "node:timers/promises";
import type { EventLog, Position, RecordedEvent } from "../../domain/ports/event-log.ts";
import type { ViewStore } from "../../domain/ports/view-store.ts";
import { RecordDamaged } from "../../infra/log-errors.ts";
import type { Projection } from "../../projections/projection.ts";
import { pageSize } from "../following/page-size.ts";
import { wakeablePause } from "../following/wakeable-pause.ts";
import { ProjectionFailed } from "./fold-page.ts";
import type { Reached } from "./reached-positions.ts";
import { type DropReason, type ViewFollower, viewFollower } from "./view-follower.ts";

export type ProjectorFailure = {
  readonly view: string | null;
  /** The event that the projection failed at; null if storage failed. */
  readonly position: Position | null;
  readonly error: unknown;
  readonly retryInMs: number;
};

export type ProjectorOptions = {
  readonly pageMax?: number;
  readonly pollMs?: number;
  readonly gatherMs?: number;
  readonly documentsMax?: number;
  readonly retryMinMs?: number;
  readonly retryMaxMs?: number;
  readonly onProgress?: (reached: readonly Reached[]) => void;
  readonly onError?: (failure: ProjectorFailure) => void;
  readonly onDropped?: (views: readonly string[], reason: DropReason) => void;
};

export type Projector = {
  start(): Promise<void>;
  stop(): Promise<void>;
  positions(): readonly Reached[];
};

/** More events hardly make a commit cheaper, and make waiting reads and a stop slower. */
const PAGE_MAX = 512;
/** The append hint may be lost. Also the time until a view dropped by another process is noticed. */
const POLL_MS = 1_000;
/** Events that arrive in this time share one commit for each view. */
const GATHER_MS = 10;
/** Under load, gathering takes this many times longer: an event changes its documents often within milliseconds. */
const GATHER_BUSY = 4;
const BUSY_EVENTS = 16;
const DOCUMENTS_MAX = 2_048;
const RETRY_MIN_MS = 100;
const RETRY_MAX_MS = 30_000;

const DROP_REASONS: readonly DropReason[] = ["unknown-log", "record-missing"];

type Followed = { readonly follower: ViewFollower; failures: number; retryAt: number };
type Round = "idle" | "some" | "busy" | "more";

const isBehind = (a: Position | null, b: Position | null): boolean => b !== null && (a === null || a < b);

/**
 * Follows the log and updates the views. Views at one position share a page. A view that is behind gets pages of its
 * own until it has caught up. No event is skipped: a view whose projection throws stops before that event and retries
 * with growing pauses, while the others go on. Several projectors over the same views are safe, but useless.
 */
export const projector = (
  log: EventLog,
  views: ViewStore,
  projections: readonly Projection[],
  options: ProjectorOptions = {},
): Projector => {
  const { pageMax = PAGE_MAX, pollMs = POLL_MS, gatherMs = GATHER_MS, documentsMax = DOCUMENTS_MAX } = options;
  const { retryMinMs = RETRY_MIN_MS, retryMaxMs = RETRY_MAX_MS, onProgress, onError, onDropped } = options;
  const all: readonly Followed[] = projections.map((projection) => ({
    follower: viewFollower(log, views, projection, documentsMax),
    failures: 0,
    retryAt: 0,
  }));
  const size = pageSize(pageMax);
  const rest = wakeablePause();
  let isStopping = false;
  let logFailures = 0;
  let running: Promise<void> = Promise.resolve();
  let stopListening: () => void = () => undefined;

  const backoffMs = (failures: number): number => Math.min(retryMaxMs, retryMinMs * 2 ** Math.min(failures - 1, 30));

  const reached = ({ follower }: Followed): Reached => ({ view: follower.view, position: follower.position() });

  const fail = (followed: Followed, error: unknown): void => {
    followed.failures += 1;
    const retryInMs = backoffMs(followed.failures);
    // Monotonic: the wall clock may jump.
    followed.retryAt = performance.now() + retryInMs;
    const position = error instanceof ProjectionFailed ? error.position : null;
    onError?.({ view: followed.follower.view, position, error, retryInMs });
  };

  const advance = async (followed: Followed, page: readonly RecordedEvent[]): Promise<void> => {
    try {
      await followed.follower.advance(page);
      followed.failures = 0;
    } catch (error) {
      fail(followed, error);
    }
  };

  const refresh = async (followed: Followed): Promise<void> => {
    try {
      await followed.follower.refresh();
    } catch (error) {
      fail(followed, error);
    }
  };

  /** Ends before a damaged record, so that the views show everything up to it. */
  const pageAfter = async (position: Position | null): Promise<readonly RecordedEvent[]> => {
    for (let limit = size.events(); ; limit = Math.ceil(limit / 2)) {
      try {
        return await log.readAll(position, limit, "records");
      } catch (error) {
        if (!(error instanceof RecordDamaged) || limit === 1) throw error;
      }
    }
  };

  /** The page ends at the next view's position, so that the two meet there. */
  const turn = async (group: readonly Followed[], position: Position | null): Promise<readonly RecordedEvent[]> => {
    const [end] = all
      .map(({ follower }) => follower.position())
      .filter((other) => other !== null && isBehind(position, other))
      .sort();
    const read = await pageAfter(position);
    size.learn(read);
    const page = end == null ? read : read.filter((event) => event.position <= end);
    if (page.length === 0) return page;
    await Promise.all(group.map((followed) => advance(followed, page)));
    const moved = group.map(reached).filter((it) => it.position !== position);
    if (moved.length > 0) onProgress?.(moved);
    return page;
  };

  const round = async (): Promise<Round> => {
    const now = performance.now();
    const due = all.filter(({ retryAt }) => retryAt <= now);
    const positions = [...new Set(due.map(({ follower }) => follower.position()))];
    positions.sort((a, b) => (isBehind(a, b) ? 1 : -1));
    const at = (position: Position | null) => due.filter(({ follower }) => follower.position() === position);
    const [first, ...behind] = positions;
    if (first === undefined) return "idle";
    const limit = size.events();
    const page = await turn(at(first), first);
    const last = behind.at(-1);
    if (last !== undefined && !isStopping) {
      await turn(at(last), last);
      return "more";
    }
    if (page.length === 0) return "idle";
    if (page.length >= limit) return "more";
    return page.length >= BUSY_EVENTS ? "busy" : "some";
  };

  const untilRetryMs = (): number => {
    const now = performance.now();
    const waiting = all.map(({ retryAt }) => retryAt - now).filter((ms) => ms > 0);
    return Math.ceil(Math.min(pollMs, ...waiting));
  };

  const afterRound = async (outcome: Round): Promise<void> => {
    // The SQLite adapters never wait in this thread: messages and timers get their turn here.
    if (outcome === "more") await yieldToOthers();
    else if (outcome === "busy") await sleep(GATHER_BUSY * gatherMs);
    else if (outcome === "some" || (await rest.pause(untilRetryMs()))) await sleep(gatherMs);
    else await Promise.all(all.map(refresh));
  };

  const follow = async (): Promise<void> => {
    while (!isStopping) {
      try {
        const outcome = await round();
        logFailures = 0;
        if (!isStopping) await afterRound(outcome);
      } catch (error) {
        logFailures += 1;
        const retryInMs = backoffMs(logFailures);
        onError?.({ view: null, position: null, error, retryInMs });
        if (!isStopping) await rest.pause(retryInMs);
      }
    }
  };

  return {
    async start() {
      const claims = await Promise.all(all.map(({ follower }) => follower.claim()));
      for (const reason of DROP_REASONS) {
        const dropped = all.filter((_, n) => claims[n] === reason).map(({ follower }) => follower.view);
        if (dropped.length > 0) onDropped?.(dropped, reason);
      }
      onProgress?.(all.map(reached));
      stopListening = log.onAppended(rest.wake);
      running = follow();
    },
    async stop() {
      isStopping = true;
      stopListening();
      rest.wake();
      await running;
    },
    positions: () => all.map(reached),
  };
};
