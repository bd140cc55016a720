import type { Job } from "./job.ts";

/** Many times what is admitted for one endpoint while the view catches up. */
const JOBS_MAX = 512;
/** By then the view has all that it will ever have of an event: another node may have delivered it. */
const MISSED_MAX_MS = 5_000;

/**
 * Jobs that were offered to an endpoint with `concurrency: 1` while older ones wait on disk, and are sent after those. The
 * view that lists what is on disk lags a little, so these jobs stay in memory until it shows that nothing is missing.
 */
export class Arrivals {
  #jobs: Job[] = [];
  /** The newest event that is neither among the jobs nor known to be in the view. */
  #missed: { readonly eventId: string; readonly atMs: number } | null = null;

  add(job: Job, nowMs: number): void {
    this.#jobs.push(job);
    if (this.#jobs.length <= JOBS_MAX) return;
    const oldest = this.#jobs.shift();
    if (oldest !== undefined) this.#missed = { eventId: oldest.eventId, atMs: nowMs };
  }

  /** The event, and all before it, have to be found on disk. */
  miss(eventId: string, nowMs: number): void {
    this.#jobs = [];
    this.#missed = { eventId, atMs: nowMs };
  }

  /**
   * Removes and returns the jobs that come after `listed`, which is all that the view has of the endpoint. Null, and
   * nothing is removed, while an event may be missing from both.
   */
  take(listed: ReadonlySet<string>, nowMs: number): readonly Job[] | null {
    if (!this.#isComplete(listed, nowMs)) return null;
    const later = this.#jobs.filter(({ eventId }) => !listed.has(eventId));
    this.#jobs = [];
    this.#missed = null;
    return later;
  }

  /** The view receives records in the log's order: if it lists an event, it lists all events before. */
  #isComplete(listed: ReadonlySet<string>, nowMs: number): boolean {
    const [first] = this.#jobs;
    if (this.#missed === null || listed.has(this.#missed.eventId)) return true;
    return (first !== undefined && listed.has(first.eventId)) || nowMs - this.#missed.atMs > MISSED_MAX_MS;
  }
}
