import type { Job } from "./lanes.ts";

/**
 * What was offered to endpoints that get their events in order, while older ones of theirs wait on disk: it comes behind
 * those. The view that lists what is on disk is a little behind, so what it does not show yet is kept here.
 */
export type Arrivals<J extends Job> = {
  add(job: J, nowMs: number): void;
  /** It is not kept here, and has to be found on disk. */
  miss(endpointId: string, eventId: string, nowMs: number): void;
  /**
   * What comes behind `listed`, all that the view has of the endpoint; null while the view may lack something that is not
   * here either. Asked once: it is forgotten here.
   */
  take(endpointId: string, listed: ReadonlySet<string>, nowMs: number): readonly J[] | null;
};

/** Many times what is admitted for one endpoint while the view catches up. */
const KEPT_MAX = 512;
/** By then the view has what it will ever have: another node may have delivered the one that is looked for. */
const MISSED_MAX_MS = 5_000;

type Kept<J> = {
  readonly jobs: J[];
  /** The newest that is not among them. */
  missed: { readonly eventId: string; readonly atMs: number } | null;
};

export const arrivals = <J extends Job>(): Arrivals<J> => {
  const byEndpoint = new Map<string, Kept<J>>();

  const keptOf = (endpointId: string): Kept<J> => {
    const kept = byEndpoint.get(endpointId) ?? { jobs: [], missed: null };
    byEndpoint.set(endpointId, kept);
    return kept;
  };

  /** The view has its records in their order: whoever finds one there finds all before it. */
  const isComplete = ({ jobs: [first], missed }: Kept<J>, listed: ReadonlySet<string>, nowMs: number): boolean =>
    missed === null ||
    listed.has(missed.eventId) ||
    (first !== undefined && listed.has(first.eventId)) ||
    nowMs - missed.atMs > MISSED_MAX_MS;

  return {
    add(job, nowMs) {
      const kept = keptOf(job.endpointId);
      kept.jobs.push(job);
      if (kept.jobs.length <= KEPT_MAX) return;
      const oldest = kept.jobs.shift();
      if (oldest !== undefined) kept.missed = { eventId: oldest.eventId, atMs: nowMs };
    },
    miss(endpointId, eventId, nowMs) {
      const kept = keptOf(endpointId);
      kept.jobs.splice(0);
      kept.missed = { eventId, atMs: nowMs };
    },
    take(endpointId, listed, nowMs) {
      const kept = byEndpoint.get(endpointId);
      if (kept === undefined) return [];
      if (!isComplete(kept, listed, nowMs)) return null;
      byEndpoint.delete(endpointId);
      return kept.jobs.filter(({ eventId }) => !listed.has(eventId));
    },
  };
};
