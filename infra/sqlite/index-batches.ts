import type { Database } from "./driver.ts";
import type { Run, StreamIndex } from "./stream-index.ts";

/** How many records are indexed together. Sorted by hash, many of their entries share a page of the index. */
const BATCH = 8_192;
/** Rows of the index that a commit writes for each record it appends: enough to keep the tail below two batches. */
const ROWS_PER_RECORD = 2;
/** A batch is spread over at most so many commits. */
const COMMITS_MAX = 1_024;

type Batch = { readonly runs: readonly Run[]; readonly upTo: number };

const byHash = (a: Run, b: Run): number => a.hash - b.hash;

/**
 * Writes the tail of the `StreamIndex`, its entries of the newest records, into the index's table, a part with each
 * commit, so that no commit takes long. After a crash a part is written again: a batch has the same rows for every
 * connection.
 */
export class IndexBatches {
  readonly #index: StreamIndex;
  readonly #size: number;
  readonly #insert;
  readonly #finish;
  #batch: Batch | null = null;
  /** How many runs of the batch have been written. */
  #written = 0;
  /** The position at which the last batch completed in this transaction ends; null if it has completed none. */
  #completed: number | null = null;

  constructor(db: Database, index: StreamIndex, size = BATCH) {
    this.#index = index;
    this.#size = size;
    this.#insert = db.prepare("INSERT OR REPLACE INTO streams (hash, revision, position, others) VALUES (?, ?, ?, ?)");
    this.#finish = db.prepare("UPDATE indexed SET up_to = max(up_to, ?)");
  }

  /** Called in a transaction that appends `records` records. Returns how many rows of the index it has written. */
  write(records: number): number {
    const rowsMax = Math.max(Math.ceil(this.#size / COMMITS_MAX), records * ROWS_PER_RECORD);
    let rows = 0;
    while (rows < rowsMax) {
      this.#batch ??= this.#next();
      if (this.#batch === null) break;
      const { runs, upTo } = this.#batch;
      const end = Math.min(runs.length, this.#written + rowsMax - rows);
      for (const run of runs.slice(this.#written, end)) this.#insertRun(run);
      rows += end - this.#written;
      this.#written = end;
      if (end === runs.length) this.#complete(upTo);
    }
    return rows;
  }

  committed(): void {
    if (this.#completed !== null) this.#index.forgetUpTo(this.#completed);
    this.#completed = null;
  }

  /** Begins the batch anew, because it may have records of the transaction that was rolled back. */
  rolledBack(): void {
    this.#batch = null;
    this.#written = 0;
    this.#completed = null;
  }

  #insertRun({ hash, entries }: Run): void {
    const [first, ...others] = entries;
    if (first === undefined) return;
    const positions = others.length === 0 ? "" : JSON.stringify(others.map(({ position }) => position));
    this.#insert.run(hash, first.revision, first.position, positions);
  }

  #complete(upTo: number): void {
    this.#finish.run(upTo);
    this.#completed = upTo;
    this.#batch = null;
    this.#written = 0;
  }

  /** Null while the tail is too short. Every connection finds the same next batch, because positions have no gaps. */
  #next(): Batch | null {
    const after = this.#completed ?? this.#index.indexedTo;
    const upTo = after + this.#size;
    if (this.#index.scannedTo < upTo) return null;
    return { runs: this.#index.runsBetween(after, upTo).toSorted(byHash), upTo };
  }
}
