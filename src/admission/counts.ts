import { accept, type Decider } from "../../domain/decider.ts";
import type { Clock, EventLog, Randomness } from "../../domain/ports.ts";
import type { RejectReason, SourceEvent } from "../../domain/source/events.ts";
import { randomId } from "../../infra/crypto/ids.ts";
import { type Envelope, type Fact, NO_TRACE, type Trace } from "../envelope.ts";
import { type Known, runCommand } from "../run-command.ts";

/**
 * Refused signatures, by source and minute, and repeats, by event: both are too cheap to provoke to be a record each. Each
 * node counts in memory what it has seen itself, and the records of all nodes add up. A count stays in memory until it is
 * in the log. A crash loses what was not written: the repeats since the last flush, and of each source the refusals of the
 * current minute except the first. Of a minute's refusals there are two records: the first is written soon, so that a
 * person who sets up a sender sees it at once.
 */
export type Counts = {
  rejected(source: { account: string; id: string }, reason: RejectReason, ip: string, userAgent: string): void;
  duplicate(event: { account: string; id: string }, trace: Trace): void;
  reused(event: { account: string; id: string }, trace: Trace): void;
  /**
   * Writes what is complete, and the first refusals of a minute; everything when `all`. Rejects with the log's error if
   * something could not be written: it stays counted, and is written by the next flush.
   */
  flush(all: boolean): Promise<void>;
  /** Writes everything, and tries again a few times if the log does not take it. Never rejects: what is lost is reported. */
  stop(): Promise<void>;
};

const MINUTE_MS = 60_000;
/** With so many counts in memory a flush begins at once. */
const FLUSH_AT = 10_000;
/**
 * Counts in memory, at a kilobyte or two each. They become so many only while the log takes none, or when requests to so
 * many sources are refused in one minute. From then on no other event and no other minute of a source is counted, which is
 * reported.
 */
const COUNTS_MAX = 20_000;
/** Records in one append, at up to three kilobytes each: so many stay far below what an append takes. */
const BATCH_MAX = 100;
/** Appends under way: the log has other things to do. */
const WRITES_AT_ONCE = 64;
/** Waits between the tries at the end of the process. */
const STOP_RETRIES_MS = [100, 200, 400, 800];
const SAMPLE_TEXT_MAX = 200;

type Sample = { readonly ip: string; readonly user_agent: string };
type Rejects = {
  readonly account: string;
  readonly sourceId: string;
  readonly minute: number;
  /** Not written yet. */
  counts: Partial<Record<RejectReason, number>>;
  readonly first: RejectReason;
  readonly samples: Partial<Record<RejectReason, Sample>>;
  isBegun: boolean;
};
type Repeats = {
  readonly account: string;
  readonly eventId: string;
  readonly trace: Trace;
  duplicates: number;
  reused: number;
};

/** Records on their way to one stream. They are the same, with the same ids, however often they are sent. */
type Batch = {
  readonly facts: Fact[];
  readonly envelope: Envelope;
  /** The end of the stream before the first try. A repeat is recognised from there on; null before the first try. */
  from: Known<null> | null;
};

/** Records that are written whatever the stream holds. */
const recording: Decider<null, readonly Fact[], Fact, never> = {
  initial: null,
  evolve: () => null,
  decide: (facts) => accept(...facts),
};

export const counts = (log: EventLog, clock: Clock, randomness: Randomness, onError: (e: unknown) => void): Counts => {
  /** By source and minute; an unknown source is never counted. */
  const rejects = new Map<string, Rejects>();
  const repeats = new Map<string, Repeats>();
  /** By stream, at most one batch each: what is counted meanwhile follows in the next. */
  const batches = new Map<string, Batch>();
  let uncounted = 0;
  let flushing: Promise<void> | null = null;

  const minuteNow = (): number => Math.floor(clock.now() / MINUTE_MS) * MINUTE_MS;
  const iso = (): string => new Date(clock.now()).toISOString();
  const size = (): number => rejects.size + repeats.size + batches.size;

  const put = (stream: string, account: string, facts: readonly Fact[], trace: Trace): void => {
    const batch = batches.get(stream);
    if (batch !== undefined) {
      batch.facts.push(...facts);
      return;
    }
    const actor = { kind: "system", id: "counts" } as const;
    const envelope = { commandId: randomId("cmd_", randomness), account, actor, trace, at: iso() };
    batches.set(stream, { facts: [...facts], envelope, from: null });
  };

  /** Null when nothing has been counted since the last record. */
  const rejectsFact = ({ sourceId, minute, counts, first, samples }: Rejects): SourceEvent | null => {
    const reasons = Object.keys(counts) as RejectReason[];
    const [reason = first] = reasons;
    const sample = samples[reason] ?? samples[first];
    if (sample === undefined || reasons.length === 0) return null;
    return {
      type: "SourceRejectsCounted",
      data: {
        source_id: sourceId,
        minute: new Date(minute).toISOString(),
        counts,
        sample: { reason, ...sample },
        samples: Object.fromEntries(reasons.map((it) => [it, samples[it] ?? sample])),
        at: iso(),
      },
    };
  };

  const repeatsFacts = ({ eventId: event_id, duplicates, reused }: Repeats): readonly Fact[] => {
    const of = (type: string, count: number): readonly Fact[] =>
      count === 0 ? [] : [{ type, data: { event_id, count, at: iso() } }];
    return [...of("DuplicatesCounted", duplicates), ...of("DeliveryIdReused", reused)];
  };

  /** Makes batches of what is due. A stream whose earlier batch is not written yet keeps counting. */
  const gather = (all: boolean): void => {
    const unwritten = new Set(batches.keys());
    const minute = minuteNow();
    for (const [key, entry] of rejects) {
      const stream = `source-${entry.sourceId}`;
      const isOver = all || entry.minute !== minute;
      const isFull = (batches.get(stream)?.facts.length ?? 0) >= BATCH_MAX;
      if (unwritten.has(stream) || isFull || !(isOver || !entry.isBegun)) continue;
      const fact = rejectsFact(entry);
      if (fact !== null) put(stream, entry.account, [fact], NO_TRACE);
      entry.counts = {};
      entry.isBegun = true;
      if (isOver) rejects.delete(key);
    }
    for (const [eventId, entry] of repeats) {
      const stream = `delivery-${eventId}`;
      if (unwritten.has(stream)) continue;
      put(stream, entry.account, repeatsFacts(entry), entry.trace);
      repeats.delete(eventId);
    }
  };

  const write = async ([stream, batch]: readonly [string, Batch]): Promise<void> => {
    // Last in the order until it is written: a stream that cannot be written to keeps no other one waiting.
    batches.delete(stream);
    batches.set(stream, batch);
    batch.from ??= { state: null, revision: (await log.last(stream))?.revision ?? null };
    await runCommand(log, recording, stream, batch.from, batch.facts, batch.envelope);
    batches.delete(stream);
  };

  const reportUncounted = (): void => {
    if (uncounted === 0) return;
    const why = `as ${COUNTS_MAX} counts wait for the log already`;
    onError(new Error(`${uncounted} refused signatures or repeats were not counted, ${why}`));
    uncounted = 0;
  };

  const writeAll = async (all: boolean): Promise<void> => {
    reportUncounted();
    gather(all);
    const waiting = [...batches];
    for (let from = 0; from < waiting.length; from += WRITES_AT_ONCE) {
      const written = await Promise.allSettled(waiting.slice(from, from + WRITES_AT_ONCE).map(write));
      const failed = written.find((it) => it.status === "rejected");
      if (failed !== undefined) throw failed.reason;
    }
    // What was counted while an earlier batch of its stream was on its way.
    if (all && size() > 0) await writeAll(all);
  };

  const begin = (all: boolean): Promise<void> => {
    const mine = writeAll(all).finally(() => {
      if (flushing === mine) flushing = null;
    });
    flushing = mine;
    return mine;
  };

  const flush = async (all: boolean): Promise<void> => {
    if (!all) return flushing ?? begin(false);
    while (flushing !== null) await flushing.catch(() => undefined);
    return begin(true);
  };

  /** False when nothing new may be counted. */
  const hasRoom = (): boolean => {
    if (size() === FLUSH_AT) flush(false).catch(onError);
    return size() < COUNTS_MAX;
  };

  const countRepeat = (event: { account: string; id: string }, trace: Trace, as: "duplicates" | "reused"): void => {
    const { account, id: eventId } = event;
    let entry = repeats.get(eventId);
    if (entry === undefined) {
      // An event has at most one batch, and one entry that follows it.
      if (!batches.has(`delivery-${eventId}`) && !hasRoom()) {
        uncounted += 1;
        return;
      }
      entry = { account, eventId, trace, duplicates: 0, reused: 0 };
      repeats.set(eventId, entry);
    }
    entry[as] += 1;
  };

  return {
    rejected({ account, id: sourceId }, reason, ip, userAgent) {
      const minute = minuteNow();
      const key = `${sourceId}/${minute}`;
      let entry = rejects.get(key);
      if (entry === undefined) {
        if (!hasRoom()) {
          uncounted += 1;
          return;
        }
        entry = { account, sourceId, minute, counts: {}, first: reason, samples: {}, isBegun: false };
        rejects.set(key, entry);
      }
      entry.counts[reason] = (entry.counts[reason] ?? 0) + 1;
      entry.samples[reason] ??= { ip: ip.slice(0, SAMPLE_TEXT_MAX), user_agent: userAgent.slice(0, SAMPLE_TEXT_MAX) };
    },
    duplicate: (event, trace) => countRepeat(event, trace, "duplicates"),
    reused: (event, trace) => countRepeat(event, trace, "reused"),
    flush,
    async stop() {
      for (const retryMs of [...STOP_RETRIES_MS, null]) {
        try {
          return await flush(true);
        } catch (cause) {
          const lost = `${size()} counts of refused signatures and repeats are lost`;
          if (retryMs === null) return onError(new Error(`${lost}: the log did not take them at the end`, { cause }));
          await new Promise((resolve) => setTimeout(resolve, retryMs));
        }
      }
    },
  };
};
