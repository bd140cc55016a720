import { setTimeout as sleep, setImmediate as yieldToOthers } from "node:timers/promises";
import type { EventLog, Position, RecordedEvent } from "../../domain/ports/event-log.ts";
import type { ViewStore } from "../../domain/ports/view-store.ts";
import { RecordDamaged } from "../../infra/log-errors.ts";
import type { Projection } from "../../projections/projection.ts";
import { type PageSize, pageSize } from "../following/page-size.ts";
import { QuietPoll } from "../following/quiet-poll.ts";
import { wakeablePause } from "../following/wakeable-pause.ts";
import { ProjectionFailed } from "./fold-page.ts";
import { type DropReason, type PageFollower, ViewFollower } from "./view-follower.ts";
import type { ViewPosition } from "./view-positions.ts";

export type ProjectorFailure = {
  readonly view: string | null;
  readonly position: Position | null;
  readonly error: unknown;
  readonly retryInMs: number;
};

export type ProjectorOptions = {
  readonly pageMax?: number;
  readonly pollMs?: number;
  readonly gatherMs?: number;
  /** False if processes that cannot call `hurry` wait for these views: then records gather less long under load. */
  readonly hearsHurry?: boolean;
  readonly documentsMax?: number;
  /** Followers besides those of the views, which share their pages. */
  readonly also?: readonly PageFollower[];
  readonly retryMinMs?: number;
  readonly retryMaxMs?: number;
  readonly onProgress?: (reached: readonly ViewPosition[]) => void;
  readonly onError?: (failure: ProjectorFailure) => void;
  readonly onDropped?: (views: readonly string[], reason: DropReason) => void;
};

/** A document that several records of a page change is written once; the records of a larger page outlive the young heap. */
const PAGE_MAX = 1_024;
/** The log is also read this often: its hint after an append may be lost, and another process may drop a view. */
const POLL_MS = 1_000;
const GATHER_MS = 10;
/** After a page, records gather this many times longer, so that fewer pages are folded and documents written. */
const GATHER_SOME = 4;
/** The same under load, but only where `hurry` is heard: reads that wait for a position would otherwise wait, too. */
const GATHER_BUSY = 20;
const BUSY_EVENTS = 16;
const DOCUMENTS_MAX = 2_048;
const RETRY_MIN_MS = 100;
const RETRY_MAX_MS = 30_000;

const DEFAULTS = {
  pageMax: PAGE_MAX,
  pollMs: POLL_MS,
  gatherMs: GATHER_MS,
  hearsHurry: true,
  documentsMax: DOCUMENTS_MAX,
  also: [] as readonly PageFollower[],
  retryMinMs: RETRY_MIN_MS,
  retryMaxMs: RETRY_MAX_MS,
};

const DROP_REASONS: readonly DropReason[] = ["unknown-log", "record-missing"];

type Followed = { readonly follower: PageFollower; failures: number; retryAt: number };
type Round = "idle" | "some" | "busy" | "more";

const progressOf = ({ follower }: Followed): ViewPosition => ({ view: follower.view, position: follower.position() });

const isBehind = (a: Position | null, b: Position | null): boolean => b !== null && (a === null || a < b);

/**
 * Views that have reached the same position share a page; a view behind them gets pages of its own until it catches up.
 * No event is skipped: a view whose projection throws stops before the event and tries again, while others go on.
 */
export class Projector {
  readonly #log: EventLog;
  readonly #options: ProjectorOptions & typeof DEFAULTS;
  readonly #all: readonly Followed[];
  readonly #size: PageSize;
  readonly #idle = wakeablePause();
  readonly #poll: QuietPoll;
  readonly #gathering = wakeablePause();
  #isStopping = false;
  #logFailures = 0;
  #running: Promise<void> = Promise.resolve();
  #unsubscribe: () => void = () => undefined;

  constructor(log: EventLog, views: ViewStore, projections: readonly Projection[], options: ProjectorOptions = {}) {
    this.#log = log;
    this.#options = { ...DEFAULTS, ...options };
    const { documentsMax, pageMax, also } = this.#options;
    this.#size = pageSize(pageMax);
    this.#poll = new QuietPoll(this.#options.pollMs);
    const own = projections.map((projection) => new ViewFollower(log, views, projection, documentsMax));
    this.#all = [...own, ...also].map((follower) => ({ follower, failures: 0, retryAt: 0 }));
  }

  async start(): Promise<void> {
    const { onDropped, onProgress } = this.#options;
    const claims = await Promise.all(this.#all.map(({ follower }) => follower.claim()));
    for (const reason of DROP_REASONS) {
      const dropped = this.#all.filter((_, n) => claims[n] === reason).map(({ follower }) => follower.view);
      if (dropped.length > 0) onDropped?.(dropped, reason);
    }
    onProgress?.(this.positions());
    this.#unsubscribe = this.#log.onAppended(this.#idle.wake);
    this.#running = this.#follow();
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#unsubscribe();
    this.#idle.wake();
    this.#gathering.wake();
    await this.#running;
  }

  /** Somebody waits for records that are appended already: they are folded without gathering more. */
  hurry(): void {
    this.#gathering.wake();
  }

  positions(): readonly ViewPosition[] {
    return this.#all.map(progressOf);
  }

  async #follow(): Promise<void> {
    while (!this.#isStopping) {
      try {
        const outcome = await this.#round();
        this.#logFailures = 0;
        if (!this.#isStopping) await this.#afterRound(outcome);
      } catch (error) {
        this.#logFailures += 1;
        const retryInMs = this.#backoffMs(this.#logFailures);
        this.#options.onError?.({ view: null, position: null, error, retryInMs });
        if (!this.#isStopping) await this.#idle.pause(retryInMs);
      }
    }
  }

  /** Advances the views that are furthest ahead and those that are furthest behind, so that the latter catch up. */
  async #round(): Promise<Round> {
    const now = performance.now();
    const due = this.#all.filter(({ retryAt }) => retryAt <= now);
    const positions = [...new Set(due.map(({ follower }) => follower.position()))];
    positions.sort((a, b) => (isBehind(a, b) ? 1 : -1));
    const at = (position: Position | null) => due.filter(({ follower }) => follower.position() === position);
    const [first, ...behind] = positions;
    if (first === undefined) return "idle";
    const limit = this.#size.events();
    const page = await this.#turn(at(first), first);
    const last = behind.at(-1);
    if (last !== undefined && !this.#isStopping) {
      await this.#turn(at(last), last);
      return "more";
    }
    if (page.length === 0) return "idle";
    if (page.length >= limit) return "more";
    return page.length >= BUSY_EVENTS ? "busy" : "some";
  }

  /** Folds one page for the views at `position`. It ends where the next view ahead is, so that both can share pages. */
  async #turn(group: readonly Followed[], position: Position | null): Promise<readonly RecordedEvent[]> {
    const [end] = this.#all
      .map(({ follower }) => follower.position())
      .filter((other) => other !== null && isBehind(position, other))
      .sort();
    const read = await this.#pageAfter(position);
    this.#size.learn(read);
    const page = end == null ? read : read.filter((event) => event.position <= end);
    if (page.length === 0) return page;
    await Promise.all(group.map((followed) => this.#advance(followed, page)));
    const moved = group.map(progressOf).filter((it) => it.position !== position);
    if (moved.length > 0) this.#options.onProgress?.(moved);
    return page;
  }

  /** Reads the next page. It ends before a damaged record, so that the views show everything up to that record. */
  async #pageAfter(position: Position | null): Promise<readonly RecordedEvent[]> {
    for (let limit = this.#size.events(); ; limit = Math.ceil(limit / 2)) {
      try {
        return await this.#log.readAll(position, limit, "records");
      } catch (error) {
        if (!(error instanceof RecordDamaged) || limit === 1) throw error;
      }
    }
  }

  async #advance(followed: Followed, page: readonly RecordedEvent[]): Promise<void> {
    try {
      await followed.follower.advance(page);
      followed.failures = 0;
    } catch (error) {
      this.#fail(followed, error);
    }
  }

  #fail(followed: Followed, error: unknown): void {
    followed.failures += 1;
    const retryInMs = this.#backoffMs(followed.failures);
    followed.retryAt = performance.now() + retryInMs;
    const position = error instanceof ProjectionFailed ? error.position : null;
    this.#options.onError?.({ view: followed.follower.view, position, error, retryInMs });
  }

  async #afterRound(outcome: Round): Promise<void> {
    const { gatherMs } = this.#options;
    // The SQLite adapters never wait in this thread, so between two pages messages and timers get their turn.
    if (outcome !== "idle") this.#poll.isBusy();
    if (outcome === "more") await yieldToOthers();
    else if (outcome === "busy" || outcome === "some") await this.#gather(outcome);
    else if (await this.#idle.pause(this.#untilRetryMs())) {
      this.#poll.isBusy();
      await sleep(gatherMs);
    } else await this.#refreshAll();
  }

  async #refreshAll(): Promise<void> {
    this.#poll.foundNothing();
    await Promise.all(this.#all.map((it) => it.follower.refresh().catch((error) => this.#fail(it, error))));
  }

  /** Even in a hurry records gather a little, so that many waiting reads do not make a page of each record. */
  async #gather(outcome: "some" | "busy"): Promise<void> {
    const { gatherMs, hearsHurry } = this.#options;
    await sleep(gatherMs);
    const times = outcome === "busy" && hearsHurry ? GATHER_BUSY : GATHER_SOME;
    if (!this.#isStopping) await this.#gathering.pause((times - 1) * gatherMs);
  }

  #untilRetryMs(): number {
    const now = performance.now();
    const waiting = this.#all.map(({ retryAt }) => retryAt - now).filter((ms) => ms > 0);
    return Math.ceil(Math.min(this.#poll.ms, ...waiting));
  }

  #backoffMs(failures: number): number {
    const { retryMinMs, retryMaxMs } = this.#options;
    return Math.min(retryMaxMs, retryMinMs * 2 ** Math.min(failures - 1, 30));
  }
}
