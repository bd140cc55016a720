import type { Clock, EventLog, Randomness } from "../../domain/ports.ts";
import type { RejectReason, SourceEvent } from "../../domain/source/events.ts";
import { randomId } from "../../infra/crypto/ids.ts";
import { type Fact, NO_TRACE, type Trace, toEvents } from "../envelope.ts";

/**
 * What happens too often, or is too cheap to provoke, to be a record each: refused signatures a source and minute, and
 * repeats of a delivery. Counted in memory and written once a period; a crash loses the counts of the last one. Of a
 * minute's refusals there are two records: the first is written soon, so that whoever sets up a sender sees them at once.
 */
export type Counts = {
  rejected(source: { account: string; id: string }, reason: RejectReason, ip: string, userAgent: string): void;
  duplicate(event: { account: string; id: string }, trace: Trace): void;
  reused(event: { account: string; id: string }, trace: Trace): void;
  /** Writes what is complete, and the first refusals of a minute; everything when `all`. */
  flush(all: boolean): Promise<void>;
};

const MINUTE_MS = 60_000;
/** Events whose repeats are counted at once; with more, what is counted is written first. */
const EVENTS_MAX = 10_000;
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
type Repeats = { readonly account: string; readonly trace: Trace; duplicates: number; reused: number };

export const counts = (log: EventLog, clock: Clock, randomness: Randomness, onError: (e: unknown) => void): Counts => {
  /** One a source: bounded by the sources that exist, as an unknown source is never counted. */
  const rejects = new Map<string, Rejects>();
  const repeats = new Map<string, Repeats>();

  const write = async (stream: string, account: string, facts: readonly Fact[], trace: Trace): Promise<void> => {
    const envelope = {
      commandId: randomId("cmd_", randomness),
      account,
      actor: { kind: "system", id: "counts" },
      trace,
      at: new Date(clock.now()).toISOString(),
    } as const;
    await log.append(stream, "any", toEvents(facts, envelope));
  };

  const writeRejects = async (entry: Rejects): Promise<void> => {
    const { account, sourceId: source_id, counts, first, samples } = entry;
    const reasons = Object.keys(counts) as RejectReason[];
    const [reason = first] = reasons;
    const sample = samples[reason] ?? samples[first];
    if (sample === undefined || reasons.length === 0) return;
    entry.counts = {};
    entry.isBegun = true;
    const fact: SourceEvent = {
      type: "SourceRejectsCounted",
      data: {
        source_id,
        minute: new Date(entry.minute).toISOString(),
        counts,
        sample: { reason, ...sample },
        samples: Object.fromEntries(reasons.map((it) => [it, samples[it] ?? sample])),
        at: new Date(clock.now()).toISOString(),
      },
    };
    await write(`source-${source_id}`, account, [fact], NO_TRACE);
  };

  const writeRepeats = async (eventId: string, entry: Repeats): Promise<void> => {
    repeats.delete(eventId);
    const at = new Date(clock.now()).toISOString();
    const facts: Fact[] = [];
    const fact = (type: string, count: number): void => {
      if (count > 0) facts.push({ type, data: { event_id: eventId, count, at } });
    };
    fact("DuplicatesCounted", entry.duplicates);
    fact("DeliveryIdReused", entry.reused);
    await write(`delivery-${eventId}`, entry.account, facts, entry.trace);
  };

  const repeatsOf = (event: { account: string; id: string }, trace: Trace): Repeats => {
    if (repeats.size >= EVENTS_MAX) flush(false).catch(onError);
    const entry = repeats.get(event.id) ?? { account: event.account, trace, duplicates: 0, reused: 0 };
    repeats.set(event.id, entry);
    return entry;
  };

  const flush = async (all: boolean): Promise<void> => {
    const minute = Math.floor(clock.now() / MINUTE_MS) * MINUTE_MS;
    const work: Promise<void>[] = [];
    for (const [key, entry] of rejects) {
      const isOver = all || entry.minute !== minute;
      if (isOver) rejects.delete(key);
      if (isOver || !entry.isBegun) work.push(writeRejects(entry));
    }
    for (const [eventId, entry] of repeats) work.push(writeRepeats(eventId, entry));
    await Promise.all(work);
  };

  return {
    rejected(source, reason, ip, userAgent) {
      const minute = Math.floor(clock.now() / MINUTE_MS) * MINUTE_MS;
      let entry = rejects.get(source.id);
      if (entry === undefined || entry.minute !== minute) {
        if (entry !== undefined) writeRejects(entry).catch(onError);
        const { account, id: sourceId } = source;
        entry = { account, sourceId, minute, counts: {}, first: reason, samples: {}, isBegun: false };
        rejects.set(source.id, entry);
      }
      entry.counts[reason] = (entry.counts[reason] ?? 0) + 1;
      entry.samples[reason] ??= { ip: ip.slice(0, SAMPLE_TEXT_MAX), user_agent: userAgent.slice(0, SAMPLE_TEXT_MAX) };
    },
    duplicate(event, trace) {
      repeatsOf(event, trace).duplicates += 1;
    },
    reused(event, trace) {
      repeatsOf(event, trace).reused += 1;
    },
    flush,
  };
};
