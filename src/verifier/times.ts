import type { Leaf } from "../../domain/evidence/leaf.ts";
import type { TimeConflict } from "./report.ts";
import type { KnownHead } from "./trust.ts";

/** Clocks of an operator and a witness may differ by this much. */
const CLOCK_MS = 60_000;
/** A checkpoint may wait this long for its witness, so that records sealed after it are recorded before its cosignature. */
const WITNESS_DELAY_MS = 60 * 60_000;
const CONFLICTS_MAX = 100;

type Timed = { readonly size: number; readonly time: number };

/** Compares the time that each record says with those of the witnesses. */
export class Times {
  /** The smallest first. */
  readonly #heads: readonly Timed[];
  /** For each head the earliest time of it and of all larger ones. */
  readonly #latest: readonly number[];
  #next = 0;
  #last = -1;
  /** The latest time at which a tree was cosigned that the records have outgrown. */
  #since = Number.NEGATIVE_INFINITY;
  readonly found: TimeConflict[] = [];
  count = 0;

  constructor(heads: readonly KnownHead[]) {
    const timed = heads.flatMap(({ size, witness }) =>
      witness === null ? [] : [{ size, time: witness.time * 1_000 }],
    );
    this.#heads = timed.sort((a, b) => a.size - b.size);
    const latest: number[] = [];
    let earliest = Number.POSITIVE_INFINITY;
    for (const { time } of this.#heads.toReversed()) {
      earliest = Math.min(earliest, time);
      latest.unshift(earliest);
    }
    this.#latest = latest;
  }

  take({ index, recorded_at }: Leaf): void {
    if (this.#heads.length === 0) return;
    // The tail of an export begins before the record that seals its key map.
    if (index < this.#last) [this.#next, this.#since] = [0, Number.NEGATIVE_INFINITY];
    this.#last = index;
    for (let it = this.#heads[this.#next]; it !== undefined && it.size <= index; it = this.#heads[this.#next]) {
      this.#since = Math.max(this.#since, it.time);
      this.#next += 1;
    }
    const at = Date.parse(recorded_at);
    const covered = this.#latest[this.#next] ?? Number.POSITIVE_INFINITY;
    if (at > covered + CLOCK_MS) this.#add(index, recorded_at, covered, "a witness had seen it before, at");
    else if (at < this.#since - WITNESS_DELAY_MS)
      this.#add(index, recorded_at, this.#since, "it was not in the tree that a witness saw at");
  }

  #add(index: number, recorded_at: string, time: number, what: string): void {
    this.count += 1;
    if (this.found.length < CONFLICTS_MAX)
      this.found.push({ index, recorded_at, reason: `${what} ${new Date(time).toISOString()}` });
  }
}
