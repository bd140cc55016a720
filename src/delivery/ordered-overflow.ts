import type { Job } from "./job.ts";

/** Far more jobs than one endpoint gets while the view catches up. */
const JOBS_MAX = 512;
/** A missed event that the view does not list after this time is not waited for: another node may have delivered it. */
const MISSED_MAX_MS = 5_000;

/** Jobs that are newer than those on disk, and are sent after these once the view shows that none is missing. */
export class OrderedOverflow {
  #jobs: Job[] = [];
  #missed: { readonly eventId: string; readonly atMs: number } | null = null;

  add(job: Job, nowMs: number): void {
    this.#jobs.push(job);
    if (this.#jobs.length <= JOBS_MAX) return;
    const oldest = this.#jobs.shift();
    if (oldest !== undefined) this.#missed = { eventId: oldest.eventId, atMs: nowMs };
  }

  miss(eventId: string, nowMs: number): void {
    this.#jobs = [];
    this.#missed = { eventId, atMs: nowMs };
  }

  /** Returns the jobs that are not in `listed`, the view's events; null while an event may be missing from both. */
  take(listed: ReadonlySet<string>, nowMs: number): readonly Job[] | null {
    if (!this.#isComplete(listed, nowMs)) return null;
    const later = this.#jobs.filter(({ eventId }) => !listed.has(eventId));
    this.#jobs = [];
    this.#missed = null;
    return later;
  }

  /** The view receives records in the log's order, so it also has all events before one that it lists. */
  #isComplete(listed: ReadonlySet<string>, nowMs: number): boolean {
    const [first] = this.#jobs;
    if (this.#missed === null || listed.has(this.#missed.eventId)) return true;
    return (first !== undefined && listed.has(first.eventId)) || nowMs - this.#missed.atMs > MISSED_MAX_MS;
  }
}
