import type { Database } from "./driver.ts";
import type { Run, StreamIndex } from "./stream-index.ts";

/** Records that are indexed together. Sorted, so that entries for one page of the index are written at once. */
const BATCH = 8_192;
/** Rows that a commit writes for each of its records: enough that the tail stays below two batches. */
const ROWS_PER_RECORD = 2;
/** A batch is spread over at most so many commits. */
const COMMITS_MAX = 128;

type Batch = { readonly runs: readonly Run[]; readonly upTo: number };

const byHash = (a: Run, b: Run): number => a.hash - b.hash;

/**
 * Writes the entries of the index's tail into its table, a part with each commit, so that no commit takes long. What a
 * crash interrupts is written again: an entry is the same each time.
 */
export class IndexBatches {
  readonly #index: StreamIndex;
  readonly #size: number;
  readonly #insert;
  readonly #finish;
  #batch: Batch | null = null;
  /** Runs of the batch that have been written. */
  #written = 0;

  constructor(db: Database, index: StreamIndex, size = BATCH) {
    this.#index = index;
    this.#size = size;
    this.#insert = db.prepare("INSERT OR IGNORE INTO streams (hash, revision, position, others) VALUES (?, ?, ?, ?)");
    this.#finish = db.prepare("UPDATE indexed SET up_to = max(up_to, ?)");
  }

  /** Inside of a transaction that appends so many records. */
  write(records: number): void {
    this.#batch ??= this.#next();
    if (this.#batch === null) return;
    const { runs, upTo } = this.#batch;
    const end = Math.min(
      runs.length,
      this.#written + Math.max(Math.ceil(this.#size / COMMITS_MAX), records * ROWS_PER_RECORD),
    );
    for (const { hash, entries } of runs.slice(this.#written, end)) {
      const [first, ...others] = entries;
      if (first === undefined) continue;
      const positions = others.length === 0 ? "" : JSON.stringify(others.map(({ position }) => position));
      this.#insert.run(hash, first.revision, first.position, positions);
    }
    this.#written = end;
    if (end === runs.length) this.#finish.run(upTo);
  }

  committed(): void {
    if (this.#batch === null || this.#written < this.#batch.runs.length) return;
    this.#index.forgetUpTo(this.#batch.upTo);
    this.#batch = null;
    this.#written = 0;
  }

  /** The batch may have records of the transaction. */
  rolledBack(): void {
    this.#batch = null;
    this.#written = 0;
  }

  /** The same for each connection that has to write it: positions have no gaps. */
  #next(): Batch | null {
    const upTo = this.#index.indexedTo + this.#size;
    if (this.#index.scannedTo < upTo) return null;
    return { runs: this.#index.runsUpTo(upTo).toSorted(byHash), upTo };
  }
}
