import { setTimeout as sleep } from "node:timers/promises";
import type { Clock } from "../../domain/ports/clock.ts";
import type { EventLog, Position, RecordedEvent } from "../../domain/ports/event-log.ts";
import type { Feed } from "../../domain/ports/feed.ts";
import { cursorOf, type LogCursor } from "../following/log-cursor.ts";
import { pageSize } from "../following/page-size.ts";
import type { RecentRecords } from "../following/recent-records.ts";
import { wakeablePause } from "../following/wakeable-pause.ts";
import type { PositionText } from "../http/position-text.ts";
import { cloudEvent, isFed } from "./cloud-event.ts";
import { type Checkpointed, type FeedCheckpoints, feedCheckpoints } from "./feed-checkpoint.ts";

type FeedStatus = {
  readonly state: "publishing" | "standing-by" | "failing";
  /** All records up to this position were published or are not part of the feed. Null at the log's beginning. */
  readonly position: Position | null;
  readonly published: number;
  readonly lag_s: number;
};

export type FeedTimes = {
  readonly pollMs: number;
  readonly gatherMs: number;
  readonly checkpointMs: number;
  readonly lookMs: number;
  readonly takeOverMs: number;
  readonly backoffMinMs: number;
  readonly backoffMaxMs: number;
};

const TIMES: FeedTimes = {
  pollMs: 1_000,
  gatherMs: 25,
  /** A checkpoint costs an append, so not each page has one. A crash repeats the records since the last one. */
  checkpointMs: 1_000,
  lookMs: 2_000,
  /** Another node takes over if records wait and no checkpoint is written for longer than a slow broker needs. */
  takeOverMs: 30_000,
  backoffMinMs: 500,
  backoffMaxMs: 10_000,
};

const PAGE_MAX = 500;
const CHECKPOINT_RECORDS = 5_000;
const FAILING_MS = 10_000;
const MS_PER_S = 1_000;

export type FeedLoopDeps = {
  readonly log: Pick<EventLog, "append" | "read" | "last" | "readAll" | "onAppended">;
  /** Absent: the loop reads each record from the log by itself. */
  readonly recent?: Pick<RecentRecords, "follow" | "readAll"> | null;
  readonly feed: Pick<Feed, "publish">;
  readonly positions: Pick<PositionText, "of">;
  readonly clock: Clock;
  readonly node: string;
  /** True if no other process uses this log, so that another node named in the checkpoint is known to be dead. */
  readonly othersAreGone: boolean;
  readonly onError: (error: unknown) => void;
  readonly times?: Partial<FeedTimes>;
};

type Lead = { revision: Checkpointed["revision"]; place: LogCursor | null; unsaved: number; savedAt: number };
type Watch = { readonly revision: Checkpointed["revision"]; waitsSince: number | null };

/**
 * Publishes every record at least once, and the records of one stream in order. Only one page is in memory, so a slow
 * broker holds up nothing but the feed. One node leads: its checkpoint expects the revision of its last one, so a
 * conflict tells it that another node has taken over. Until then both publish, which only repeats records.
 */
export class FeedLoop {
  readonly #deps: FeedLoopDeps;
  readonly #recent: Pick<RecentRecords, "follow" | "readAll">;
  readonly #times: FeedTimes;
  readonly #checkpoints: FeedCheckpoints;
  readonly #size = pageSize(PAGE_MAX);
  readonly #rest = wakeablePause();
  // An append to the log ends `#rest`, but not this pause after a failure.
  readonly #backoff = wakeablePause();
  #isStopping = false;
  #running: Promise<void> = Promise.resolve();
  #unsubscribe: () => void = () => undefined;
  #lead: Lead | null = null;
  #watch: Watch | null = null;
  #after: Position | null = null;
  #published = 0;
  #waitingSince: string | null = null;
  #failures = 0;
  #failingSince = 0;

  constructor(deps: FeedLoopDeps) {
    const { log, recent } = deps;
    this.#deps = deps;
    this.#recent = recent ?? {
      follow: (_types, wake) => log.onAppended(wake),
      readAll: (after, limit) => log.readAll(after, limit, "records"),
    };
    this.#times = { ...TIMES, ...deps.times };
    this.#checkpoints = feedCheckpoints(deps.log, deps.clock, deps.node);
  }

  start(): void {
    this.#unsubscribe = this.#recent.follow(null, this.#rest.wake);
    this.#running = this.#follow();
  }

  /** Finishes the page in progress within `graceMs`, writes a checkpoint, and hands the feed over to another node. */
  async stop(graceMs: number): Promise<void> {
    this.#isStopping = true;
    this.#unsubscribe();
    this.#rest.wake();
    this.#backoff.wake();
    const giveUp = new AbortController();
    // A page that takes longer than `graceMs` is cut off with the connection to the broker, and is published again.
    await Promise.race([this.#running, sleep(graceMs, undefined, { signal: giveUp.signal }).catch(() => undefined)]);
    giveUp.abort();
  }

  healthy(): boolean {
    return this.#failures === 0 || performance.now() - this.#failingSince < FAILING_MS;
  }

  status(): FeedStatus {
    const ageMs = this.#waitingSince === null ? 0 : this.#deps.clock.now() - Date.parse(this.#waitingSince);
    return {
      state: this.#failures > 0 ? "failing" : this.#lead === null ? "standing-by" : "publishing",
      position: this.#after,
      published: this.#published,
      lag_s: Math.max(0, ageMs / MS_PER_S),
    };
  }

  async #follow(): Promise<void> {
    while (!this.#isStopping) {
      try {
        await (this.#lead === null ? this.#standBy() : this.#leadOn(this.#lead));
      } catch (error) {
        this.#deps.onError(error);
        if (this.#failures === 0) this.#failingSince = performance.now();
        this.#failures += 1;
        const { backoffMinMs, backoffMaxMs } = this.#times;
        const ms = Math.min(backoffMaxMs, backoffMinMs * 2 ** Math.min(this.#failures - 1, 10));
        if (!this.#isStopping) await this.#backoff.pause(ms);
      }
    }
    if (this.#lead !== null) await this.#save(this.#lead, null).catch(this.#deps.onError);
  }

  async #leadOn(lead: Lead): Promise<void> {
    // After a failure another node may lead, or this node's checkpoint was written although its reply was lost.
    if (this.#failures > 0 && (await this.#checkpoints.read()).revision !== lead.revision) this.#resign();
    if (this.#lead !== lead) return;
    const isMore = await this.#publishPage(lead);
    this.#failures = 0;
    if (isMore || this.#isStopping || this.#lead !== lead) return;
    const { pollMs, gatherMs } = this.#times;
    const pauseMs = lead.unsaved > 0 ? Math.min(pollMs, Math.max(0, this.#untilSaveMs(lead))) : pollMs;
    if ((await this.#rest.pause(pauseMs)) && !this.#isStopping) await sleep(gatherMs);
  }

  async #publishPage(lead: Lead): Promise<boolean> {
    const { feed, positions, node } = this.#deps;
    const limit = this.#size.events();
    const page = await this.#recent.readAll(this.#after, limit);
    this.#size.learn(page);
    const records = page.filter(isFed);
    const last = records.at(-1);
    this.#waitingSince = records[0]?.meta.recorded_at ?? null;
    if (last !== undefined) {
      await feed.publish(records.map((record) => cloudEvent(record, positions)));
      lead.place = cursorOf(last);
      lead.unsaved += records.length;
      this.#published += records.length;
      this.#waitingSince = null;
    }
    this.#after = page.at(-1)?.position ?? this.#after;
    const isDue = lead.unsaved > 0 && this.#untilSaveMs(lead) <= 0;
    if (isDue || lead.unsaved >= CHECKPOINT_RECORDS) await this.#save(lead, node);
    return page.length >= limit;
  }

  async #standBy(): Promise<void> {
    const { node, othersAreGone } = this.#deps;
    const checkpoint = await this.#checkpoints.read();
    if (this.#watch === null || this.#watch.revision !== checkpoint.revision) {
      this.#watch = { revision: checkpoint.revision, waitsSince: null };
      this.#after = checkpoint.after;
    }
    const watch = this.#watch;
    if (checkpoint.node === null || checkpoint.node === node || othersAreGone) return this.#takeOver(checkpoint);
    const waiting = await this.#firstWaiting();
    this.#waitingSince = waiting?.meta.recorded_at ?? null;
    this.#failures = 0;
    // A leader that has no records to publish writes no checkpoint, so its silence does not mean that it is dead.
    if (waiting === null) watch.waitsSince = null;
    else watch.waitsSince ??= performance.now();
    if (watch.waitsSince !== null && performance.now() - watch.waitsSince >= this.#times.takeOverMs) {
      return this.#takeOver(checkpoint);
    }
    await this.#backoff.pause(this.#times.lookMs);
  }

  /** Finds the next record of the feed after the checkpoint, and moves `#after` past all that are not part of it. */
  async #firstWaiting(): Promise<RecordedEvent | null> {
    for (;;) {
      const page = await this.#recent.readAll(this.#after, PAGE_MAX);
      const found = page.find(isFed);
      if (found !== undefined) return found;
      this.#after = page.at(-1)?.position ?? this.#after;
      if (page.length < PAGE_MAX) return null;
    }
  }

  async #takeOver({ revision, place }: Checkpointed): Promise<void> {
    this.#lead = { revision, place, unsaved: 0, savedAt: performance.now() };
    await this.#save(this.#lead, this.#deps.node);
  }

  async #save(lead: Lead, holder: string | null): Promise<void> {
    const revision = await this.#checkpoints.write(lead.revision, lead.place, holder);
    if (revision === null) return this.#resign();
    lead.revision = revision;
    lead.unsaved = 0;
    lead.savedAt = performance.now();
  }

  #untilSaveMs(lead: Lead): number {
    return lead.savedAt + this.#times.checkpointMs - performance.now();
  }

  #resign(): void {
    this.#lead = null;
    this.#watch = null;
  }
}
