import { setTimeout as sleep } from "node:timers/promises";
import type { Clock } from "../../domain/ports/clock.ts";
import type { EventLog, Position, RecordedEvent } from "../../domain/ports/event-log.ts";
import type { Feed } from "../../domain/ports/feed.ts";
import { cursorOf, type LogCursor } from "../following/log-cursor.ts";
import { pageSize } from "../following/page-size.ts";
import { wakeablePause } from "../following/wakeable-pause.ts";
import type { PositionText } from "../http/position-text.ts";
import { cloudEvent, isFed } from "./cloud-event.ts";
import { type Checkpointed, feedCheckpoints } from "./feed-checkpoint.ts";

type FeedStatus = {
  readonly state: "publishing" | "standing-by" | "failing";
  /** Everything up to here was published or is not part of the feed; null: nothing yet. */
  readonly position: Position | null;
  readonly published: number;
  /** Seconds since the oldest waiting record was recorded; 0 if none is known to wait. */
  readonly lag_s: number;
};

export type FeedLoop = {
  start(): void;
  /** Finishes the page within `graceMs`, writes a checkpoint and releases the feed. */
  stop(graceMs: number): Promise<void>;
  healthy(): boolean;
  status(): FeedStatus;
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
  /** The append hint may be lost. */
  pollMs: 1_000,
  /** What is appended in this time is published in one batch. */
  gatherMs: 25,
  /** Each checkpoint is an append. What was published since the last one is published again after a crash. */
  checkpointMs: 1_000,
  lookMs: 2_000,
  /**
   * Longer than one page takes on a slow broker. If nothing has moved for this long although records wait, a node on
   * standby takes over.
   */
  takeOverMs: 30_000,
  backoffMinMs: 500,
  backoffMaxMs: 10_000,
};

const PAGE_MAX = 500;
/** A checkpoint is also written after this many records, which limits what a crash repeats. */
const CHECKPOINT_RECORDS = 5_000;
/** A broker that restarts is back by then; a longer failure needs an operator. */
const FAILING_MS = 10_000;

export type FeedLoopDeps = {
  readonly log: Pick<EventLog, "append" | "read" | "last" | "readAll" | "onAppended">;
  readonly feed: Pick<Feed, "publish">;
  readonly positions: Pick<PositionText, "of">;
  readonly clock: Clock;
  readonly node: string;
  /** No other process feeds from this log, so the node that holds the feed is dead. */
  readonly othersAreGone: boolean;
  readonly onError: (error: unknown) => void;
  readonly times?: Partial<FeedTimes>;
};

type Lead = { revision: Checkpointed["revision"]; place: LogCursor | null; unsaved: number; savedAt: number };
type Watch = { readonly revision: Checkpointed["revision"]; waitsSince: number | null };

/**
 * Publishes every record at least once, following the log from the checkpoint. Records of one stream come in order.
 * After a crash, a broken connection or a change of nodes the last ones may come again. One page is in memory at a
 * time, so a slow broker holds up nothing but the feed. One node feeds and the others stand by. Each checkpoint expects
 * the revision of the one before, so a node that is refused knows that it was replaced. Until then both publish:
 * repeats, never a gap.
 */
export const feedLoop = (deps: FeedLoopDeps): FeedLoop => {
  const { log, feed, positions, clock, node, othersAreGone, onError } = deps;
  const times = { ...TIMES, ...deps.times };
  const checkpoints = feedCheckpoints(log, clock, node);
  const size = pageSize(PAGE_MAX);
  const rest = wakeablePause();
  // Appends end the other pause; while the broker is away they must not.
  const backoff = wakeablePause();
  let isStopping = false;
  let running: Promise<void> = Promise.resolve();
  let silence: () => void = () => undefined;

  let lead: Lead | null = null;
  let watch: Watch | null = null;
  let after: Position | null = null;
  let published = 0;
  let waitingSince: string | null = null;
  let failures = 0;
  let failingSince = 0;

  const standBy = (): void => {
    lead = null;
    watch = null;
  };

  const save = async (it: Lead, holder: string | null): Promise<void> => {
    const revision = await checkpoints.write(it.revision, it.place, holder);
    if (revision === null) return standBy();
    it.revision = revision;
    it.unsaved = 0;
    it.savedAt = performance.now();
  };

  const untilSaveMs = (it: Lead): number => it.savedAt + times.checkpointMs - performance.now();

  const publishPage = async (it: Lead): Promise<boolean> => {
    const limit = size.events();
    const page = await log.readAll(after, limit, "records");
    size.learn(page);
    const records = page.filter(isFed);
    const last = records.at(-1);
    waitingSince = records[0]?.meta.recorded_at ?? null;
    if (last !== undefined) {
      await feed.publish(records.map((record) => cloudEvent(record, positions)));
      it.place = cursorOf(last);
      it.unsaved += records.length;
      published += records.length;
      waitingSince = null;
    }
    after = page.at(-1)?.position ?? after;
    if (it.unsaved >= CHECKPOINT_RECORDS || (it.unsaved > 0 && untilSaveMs(it) <= 0)) await save(it, node);
    return page.length >= limit;
  };

  /**
   * After a failure another node may have taken over, or this node's own checkpoint was written although the reply was
   * lost.
   */
  const confirm = async (it: Lead): Promise<void> => {
    if ((await checkpoints.read()).revision !== it.revision) standBy();
  };

  const leadOn = async (it: Lead): Promise<void> => {
    if (failures > 0) await confirm(it);
    if (lead !== it) return;
    const isMore = await publishPage(it);
    failures = 0;
    if (isMore || isStopping || lead !== it) return;
    const pauseMs = it.unsaved > 0 ? Math.min(times.pollMs, Math.max(0, untilSaveMs(it))) : times.pollMs;
    if ((await rest.pause(pauseMs)) && !isStopping) await sleep(times.gatherMs);
  };

  const takeOver = async ({ revision, place }: Checkpointed): Promise<void> => {
    const it: Lead = { revision, place, unsaved: 0, savedAt: performance.now() };
    lead = it;
    await save(it, node);
  };

  /** The first record after the checkpoint. On the way, `after` moves past what is not part of the feed. */
  const firstWaiting = async (): Promise<RecordedEvent | null> => {
    for (;;) {
      const page = await log.readAll(after, PAGE_MAX, "records");
      const found = page.find(isFed);
      if (found !== undefined) return found;
      after = page.at(-1)?.position ?? after;
      if (page.length < PAGE_MAX) return null;
    }
  };

  const watchOver = async (): Promise<void> => {
    const kept = await checkpoints.read();
    if (watch === null || watch.revision !== kept.revision) {
      watch = { revision: kept.revision, waitsSince: null };
      after = kept.after;
    }
    if (kept.node === null || kept.node === node || othersAreGone) return takeOver(kept);
    const waiting = await firstWaiting();
    waitingSince = waiting?.meta.recorded_at ?? null;
    failures = 0;
    // Without records to publish, the node that feeds writes no checkpoint and may well be alive.
    if (waiting === null) watch.waitsSince = null;
    else watch.waitsSince ??= performance.now();
    if (watch.waitsSince !== null && performance.now() - watch.waitsSince >= times.takeOverMs) return takeOver(kept);
    await backoff.pause(times.lookMs);
  };

  const follow = async (): Promise<void> => {
    while (!isStopping) {
      try {
        await (lead === null ? watchOver() : leadOn(lead));
      } catch (error) {
        onError(error);
        if (failures === 0) failingSince = performance.now();
        failures += 1;
        const ms = Math.min(times.backoffMaxMs, times.backoffMinMs * 2 ** Math.min(failures - 1, 10));
        if (!isStopping) await backoff.pause(ms);
      }
    }
    if (lead !== null) await save(lead, null).catch(onError);
  };

  const ageS = (recordedAt: string): number => Math.max(0, (clock.now() - Date.parse(recordedAt)) / 1_000);

  return {
    start() {
      silence = log.onAppended(rest.wake);
      running = follow();
    },
    async stop(graceMs) {
      isStopping = true;
      silence();
      rest.wake();
      backoff.wake();
      const giveUp = new AbortController();
      // A request in progress ends with its connection, and its page is published again.
      await Promise.race([running, sleep(graceMs, undefined, { signal: giveUp.signal }).catch(() => undefined)]);
      giveUp.abort();
    },
    healthy: () => failures === 0 || performance.now() - failingSince < FAILING_MS,
    status: () => ({
      state: failures > 0 ? "failing" : lead === null ? "standing-by" : "publishing",
      position: after,
      published,
      lag_s: waitingSince === null ? 0 : ageS(waitingSince),
    }),
  };
};
