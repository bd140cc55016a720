import { iso } from "../../domain/calendar.ts";
import { type AttemptCounts, WINDOW_MS } from "../../domain/endpoint/circuit.ts";
import type { AttemptResult } from "./outcome.ts";

type EndedAttempt = Pick<AttemptResult, "startedAt" | "at" | "succeeded">;

const BUCKET_MS = 10_000;
const BUCKETS = WINDOW_MS / BUCKET_MS;

type Bucket = { readonly index: number; attempts: number; failed: number };

/** An attempt that seems far older than the recovery began on a clock that was set back, so it counts as later. */
const beganBefore = (startedAt: number, wellAt: number): boolean =>
  startedAt < wellAt && wellAt - startedAt < WINDOW_MS;

/** Counts this node's attempts since the endpoint last recovered; its stream decides what follows from the counts. */
export class AttemptWindow {
  #wellAt: string | null = null;
  #buckets: Bucket[] = [];
  #attempts = 0;
  #failed = 0;
  #consecutiveFailures = 0;
  #failingSince: string | null = null;
  #lastFailureAt: string | null = null;

  /** Returns null for an attempt from before the last recovery (`wellAt`), which says nothing about the time since. */
  count(wellAt: string | null, ended: EndedAttempt): AttemptCounts | null {
    if (wellAt !== null && beganBefore(ended.startedAt, Date.parse(wellAt))) return null;
    if (wellAt !== this.#wellAt) this.#restart(wellAt);
    this.#add(ended);
    return {
      consecutiveFailures: this.#consecutiveFailures,
      failingSince: this.#failingSince,
      lastFailureAt: this.#lastFailureAt,
      attempts: this.#attempts,
      failed: this.#failed,
    };
  }

  #restart(wellAt: string | null): void {
    this.#wellAt = wellAt;
    this.#buckets = [];
    this.#attempts = 0;
    this.#failed = 0;
    this.#consecutiveFailures = 0;
    this.#failingSince = null;
    this.#lastFailureAt = null;
  }

  #add({ at, succeeded }: EndedAttempt): void {
    const bucket = this.#bucketAt(at);
    const failed = succeeded ? 0 : 1;
    bucket.attempts += 1;
    bucket.failed += failed;
    this.#attempts += 1;
    this.#failed += failed;
    if (succeeded) {
      this.#consecutiveFailures = 0;
      this.#failingSince = null;
      return;
    }
    this.#consecutiveFailures += 1;
    this.#lastFailureAt = iso(at);
    this.#failingSince ??= this.#lastFailureAt;
  }

  #bucketAt(ms: number): Bucket {
    const index = Math.floor(ms / BUCKET_MS);
    this.#slide(index - BUCKETS + 1);
    const newest = this.#buckets.at(-1);
    // After the clock was set back, attempts count into the newest bucket.
    if (newest !== undefined && newest.index >= index) return newest;
    const next = { index, attempts: 0, failed: 0 };
    this.#buckets.push(next);
    return next;
  }

  #slide(oldest: number): void {
    for (let [first] = this.#buckets; first !== undefined && first.index < oldest; [first] = this.#buckets) {
      this.#buckets.shift();
      this.#attempts -= first.attempts;
      this.#failed -= first.failed;
    }
  }
}
