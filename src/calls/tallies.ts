import { accept, type Decider } from "../../domain/decider.ts";
import type { Client, Commitment } from "../../domain/personal/events.ts";
import type { Clock } from "../../domain/ports/clock.ts";
import type { Actor, EventLog } from "../../domain/ports/event-log.ts";
import type { Randomness } from "../../domain/ports/randomness.ts";
import { randomId } from "../../infra/crypto/ids.ts";
import { personalData } from "../erasure/personal-data.ts";
import type { Envelope, Fact, Trace } from "../streams/envelope.ts";
import { runCommand, type StreamState } from "../streams/run-command.ts";

/** The client of the first counted request. The commitment is made at the first write. */
export type Sample = { readonly client: Client; commitment: Commitment | null };

export type Draft = { readonly samples: readonly Sample[]; readonly facts: () => readonly Fact[] };

export type Tally = {
  readonly account: string;
  readonly stream: string;
  readonly actor: Actor;
  readonly trace: Trace;
  /** True: the first requests of a minute are recorded soon, the others at its end. False: recorded with each flush. */
  readonly isOfMinute: boolean;
  take(at: string): Draft | null;
};

/** Each node counts in memory and the records of all nodes add up. A crash loses what was not yet recorded. */
export type Tallies = {
  /** Null if there is no room for another tally, which is reported. */
  of<T extends Tally>(key: string, make: (minute: string) => T): T | null;
  isOpen(key: string): boolean;
  /** Rejects with the log's error: what was not written stays counted until the next flush. */
  flush(all: boolean): Promise<void>;
  /** Retries a few times and never rejects: a loss is reported. */
  stop(): Promise<void>;
};

const MINUTE_MS = 60_000;
/** With this many counts in memory a flush begins at once. */
const FLUSH_AT = 10_000;
/** Reached only while appends fail, or if very many kinds are refused in a minute. A count takes a kilobyte or two. */
const COUNTS_MAX = 20_000;
/** Records of up to three kilobytes in one append, far below its limit. */
const BATCH_MAX = 100;
const WRITES_AT_ONCE = 64;
const STOP_RETRIES_MS = [100, 200, 400, 800];

export const COUNTS_ACTOR: Actor = { kind: "system", id: "counts" };

type OpenTally = { readonly tally: Tally; readonly minute: number; isBegun: boolean };

type Batch = {
  readonly stream: string;
  readonly drafts: Draft[];
  readonly envelope: Envelope;
  facts: readonly Fact[] | null;
  /** The stream's end before the first try, from where a repeat is recognised; null before that try. */
  from: StreamState<null> | null;
};

export const recording: Decider<null, readonly Fact[], Fact, never> = {
  initial: null,
  evolve: () => null,
  decide: (facts) => accept(...facts),
};

const batchKey = ({ stream, actor }: Tally): string => `${stream} ${actor.kind} ${actor.id}`;

export const tallies = (
  log: EventLog,
  clock: Clock,
  randomness: Randomness,
  onError: (e: unknown) => void,
): Tallies => {
  const personal = personalData(log, randomness);
  const open = new Map<string, OpenTally>();
  const batches = new Map<string, Batch>();
  let uncounted = 0;
  let flushing: Promise<void> | null = null;

  const minuteNow = (): number => Math.floor(clock.now() / MINUTE_MS) * MINUTE_MS;
  const iso = (): string => new Date(clock.now()).toISOString();
  const size = (): number => open.size + batches.size;

  const put = (tally: Tally, draft: Draft): void => {
    const key = batchKey(tally);
    const batch = batches.get(key);
    if (batch !== undefined) {
      batch.drafts.push(draft);
      return;
    }
    const { account, actor, trace, stream } = tally;
    const envelope = { commandId: randomId("cmd_", randomness), account, actor, trace, at: iso() };
    batches.set(key, { stream, drafts: [draft], envelope, facts: null, from: null });
  };

  /** A stream whose last batch is not written keeps counting. */
  const gather = (all: boolean): void => {
    const unwritten = new Set(batches.keys());
    const minute = minuteNow();
    for (const [key, kept] of open) {
      const { tally } = kept;
      const isOver = all || !tally.isOfMinute || kept.minute !== minute;
      const isFull = (batches.get(batchKey(tally))?.drafts.length ?? 0) >= BATCH_MAX;
      if (unwritten.has(batchKey(tally)) || isFull || !(isOver || !kept.isBegun)) continue;
      const draft = tally.take(iso());
      if (draft !== null) put(tally, draft);
      kept.isBegun = true;
      if (isOver) open.delete(key);
    }
  };

  const factsOf = async ({ stream, drafts, envelope }: Batch): Promise<readonly Fact[]> => {
    for (const sample of drafts.flatMap(({ samples }) => samples))
      sample.commitment ??= await personal.keep(stream, sample.client, envelope);
    return drafts.flatMap(({ facts }) => facts());
  };

  const write = async ([key, batch]: readonly [string, Batch]): Promise<void> => {
    // Moved to the end, so that a stream that cannot be written holds up no other.
    batches.delete(key);
    batches.set(key, batch);
    const { stream, envelope } = batch;
    batch.facts ??= await factsOf(batch);
    batch.from ??= { state: null, revision: (await log.last(stream))?.revision ?? null };
    await runCommand(log, { decider: recording, stream, from: batch.from, command: batch.facts, envelope });
    batches.delete(key);
  };

  const reportUncounted = (): void => {
    if (uncounted === 0) return;
    const why = `as ${COUNTS_MAX} counts wait for the log already`;
    onError(new Error(`${uncounted} refused requests or repeats were not counted, ${why}`));
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
    // Requests were counted while an earlier batch of the same stream was being written.
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

  const hasRoom = (): boolean => {
    if (size() === FLUSH_AT) flush(false).catch(onError);
    return size() < COUNTS_MAX;
  };

  return {
    of<T extends Tally>(name: string, make: (minute: string) => T) {
      const minute = minuteNow();
      const found = (open.get(name) ?? open.get(`${name}/${minute}`))?.tally as T | undefined;
      if (found !== undefined) return found;
      const tally = make(new Date(minute).toISOString());
      // At most one tally follows a batch of the same stream.
      if (!(batches.has(batchKey(tally)) && !tally.isOfMinute) && !hasRoom()) {
        uncounted += 1;
        return null;
      }
      open.set(tally.isOfMinute ? `${name}/${minute}` : name, { tally, minute, isBegun: false });
      return tally;
    },
    isOpen: (key) => open.has(key),
    flush,
    async stop() {
      for (const retryMs of [...STOP_RETRIES_MS, null]) {
        try {
          return await flush(true);
        } catch (cause) {
          const lost = `${size()} counts of refused requests and repeats are lost`;
          if (retryMs === null) return onError(new Error(`${lost}: the log did not take them at the end`, { cause }));
          await new Promise((resolve) => setTimeout(resolve, retryMs));
        }
      }
    },
  };
};
