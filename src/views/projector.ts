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

/** What went wrong and when it is tried again. `view` is null when the log could not be read. */
export type ProjectorFailure = {
  readonly view: string | null;
  /** Of the event that a projection failed at; null when storage failed. */
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
  /** After each page, with the views that it moved. */
  readonly onProgress?: (reached: readonly Reached[]) => void;
  readonly onError?: (failure: ProjectorFailure) => void;
  /** At the start, once for each reason, with the views that are folded anew for it. */
  readonly onDropped?: (views: readonly string[], reason: DropReason) => void;
};

export type Projector = {
  /** Resolves when the views' positions are known and the log is being followed. */
  start(): Promise<void>;
  /** Finishes the page in hand. */
  stop(): Promise<void>;
  positions(): readonly Reached[];
};

/** Events in a page. More make a commit cheaper by little, and a waiting read and a stop slower. */
const PAGE_MAX = 512;
/** The hint that something was appended may be lost. Also how soon a view dropped by another process is seen. */
const POLL_MS = 1_000;
/** From the hint to the reading: what is appended meanwhile shares one commit for each view. */
const GATHER_MS = 10;
/** Under load so many times longer: an event changes its documents often within some milliseconds, and is written once. */
const GATHER_BUSY = 4;
/** A page of at least so many events is load. */
const BUSY_EVENTS = 16;
/** Parsed documents kept for each view: those of the events that are on their way. */
const DOCUMENTS_MAX = 2_048;
const RETRY_MIN_MS = 100;
const RETRY_MAX_MS = 30_000;

const DROP_REASONS: readonly DropReason[] = ["unknown-log", "record-missing"];

type Followed = { readonly follower: ViewFollower; failures: number; retryAt: number };
type Round = "idle" | "some" | "busy" | "more";

/** A position sorts as text, and the log's beginning before all of them. */
const isBehind = (a: Position | null, b: Position | null): boolean => b !== null && (a === null || a < b);

/**
 * Follows the log and keeps the views. One page is read for all the views at one position, which normally are all of
 * them; a view that is behind gets a page of its own in every round, until it meets the others.
 *
 * No event is ever skipped: a view whose projection throws stands still before that event and is tried again, later
 * each time, and the others go on. Several projectors over the same views are safe, and useless.
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

  /** The page after `position`. It ends before a damaged record, so that the views show everything up to that one. */
  const pageAfter = async (position: Position | null): Promise<readonly RecordedEvent[]> => {
    for (let limit = size.events(); ; limit = Math.ceil(limit / 2)) {
      try {
        return await log.readAll(position, limit, "records");
      } catch (error) {
        if (!(error instanceof RecordDamaged) || limit === 1) throw error;
      }
    }
  };

  /** One page for the views at one position. It ends where the next view stands, so that the two meet there. */
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

  /** The views furthest ahead first, then those furthest behind. */
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
    // The adapters for SQLite work in this thread without ever waiting: messages and timers get their turn here.
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
