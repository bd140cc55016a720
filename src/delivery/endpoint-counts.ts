import { LRUCache } from "lru-cache";
import { type AttemptCounts, WINDOW_MS } from "../../domain/endpoint/circuit.ts";

/** One attempt that has ended; times in ms since 1970. */
type Attempted = {
  readonly startedAt: number;
  readonly at: number;
  readonly succeeded: boolean;
};

export type EndpointCounts = {
  /**
   * Counts an attempt, and answers what is counted with it; null when it began before its endpoint was last well again
   * (`wellAt`), and so says nothing of how it is since.
   */
  count(endpointId: string, wellAt: string | null, attempted: Attempted): AttemptCounts | null;
};

/** A window of thirty of them: it slides in steps that nobody notices, and costs thirty small numbers an endpoint. */
const SLOT_MS = 10_000;
const SLOTS = WINDOW_MS / SLOT_MS;
/** Endpoints counted at once; the one that was counted least recently begins again from nothing. */
const ENDPOINTS_MAX = 10_000;

type Slot = { readonly slot: number; attempts: number; failed: number };

type Counts = {
  readonly wellAt: string | null;
  /** Oldest first. */
  readonly slots: Slot[];
  attempts: number;
  failed: number;
  consecutiveFailures: number;
  failingSince: string | null;
  lastFailureAt: string | null;
};

const iso = (ms: number): string => new Date(ms).toISOString();

const slide = (counts: Counts, oldest: number): void => {
  for (let [first] = counts.slots; first !== undefined && first.slot < oldest; [first] = counts.slots) {
    counts.slots.shift();
    counts.attempts -= first.attempts;
    counts.failed -= first.failed;
  }
};

const add = (counts: Counts, { at, succeeded }: Attempted): void => {
  const slot = Math.floor(at / SLOT_MS);
  slide(counts, slot - SLOTS + 1);
  let newest = counts.slots.at(-1);
  // A clock that was set back counts into the newest slot there is.
  if (newest === undefined || newest.slot < slot) {
    newest = { slot, attempts: 0, failed: 0 };
    counts.slots.push(newest);
  }
  const failed = succeeded ? 0 : 1;
  newest.attempts += 1;
  newest.failed += failed;
  counts.attempts += 1;
  counts.failed += failed;
  if (succeeded) {
    counts.consecutiveFailures = 0;
    counts.failingSince = null;
    return;
  }
  counts.consecutiveFailures += 1;
  counts.lastFailureAt = iso(at);
  counts.failingSince ??= counts.lastFailureAt;
};

/** No attempt lasts so long: what began still longer before its endpoint was well began behind it, on a clock that was set back. */
const isOfBefore = (startedAt: number, wellAt: number): boolean => startedAt < wellAt && wellAt - startedAt < WINDOW_MS;

/** What this node has seen of its endpoints' attempts, in memory: what follows from it is decided by their streams. */
export const endpointCounts = (): EndpointCounts => {
  const byEndpoint = new LRUCache<string, Counts>({ max: ENDPOINTS_MAX });

  const fresh = (wellAt: string | null): Counts => ({
    wellAt,
    slots: [],
    attempts: 0,
    failed: 0,
    consecutiveFailures: 0,
    failingSince: null,
    lastFailureAt: null,
  });

  return {
    count(endpointId, wellAt, attempted) {
      if (wellAt !== null && isOfBefore(attempted.startedAt, Date.parse(wellAt))) return null;
      const before = byEndpoint.get(endpointId);
      const counts = before !== undefined && before.wellAt === wellAt ? before : fresh(wellAt);
      byEndpoint.set(endpointId, counts);
      add(counts, attempted);
      const { consecutiveFailures, failingSince, lastFailureAt, attempts, failed } = counts;
      return { consecutiveFailures, failingSince, lastFailureAt, attempts, failed };
    },
  };
};
