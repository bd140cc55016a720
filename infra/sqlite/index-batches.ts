import type { Database } from "./driver.ts";
import type { Run, StreamIndex } from "./stream-index.ts";

/** Records that are indexed together. Sorted, so that entries for one page of the index are written at once. */
const BATCH = 8_192;
/** Rows that a commit writes for each of its records: enough that the tail stays below two batches. */
const ROWS_PER_RECORD = 2;
/** A batch is spread over at most so many commits. */
const COMMITS_MAX = 1_024;

type Batch = { readonly runs: readonly Run[]; readonly upTo: number };

const byHash = (a: Run, b: Run): number => a.hash - b.hash;

/**
 * Writes the entries of the index's tail into its table, a part with each commit, so that no commit takes long. What a
 * crash interrupts is written again: a batch has the same rows whichever connection writes it.
 */
export class IndexBatches {
  readonly #index: StreamIndex;
  readonly #size: number;
  readonly #insert;
  readonly #finish;
  #batch: Batch | null = null;
  /** Runs of the batch that have been written. */
  #written = 0;
  /** The end of the last batch that the current transaction has completed; null if it has completed none. */
  #completed: number | null = null;

  constructor(db: Database, index: StreamIndex, size = BATCH) {
    this.#index = index;
    this.#size = size;
    this.#insert = db.prepare("INSERT OR REPLACE INTO streams (hash, revision, position, others) VALUES (?, ?, ?, ?)");
    this.#finish = db.prepare("UPDATE indexed SET up_to = max(up_to, ?)");
  }

  /** To be called in a transaction that appends so many records. Returns how many rows it has written. */
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

  /** The batch may have records of the transaction. */
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

  /** The same for each connection that has to write it: positions have no gaps. */
  #next(): Batch | null {
    const after = this.#completed ?? this.#index.indexedTo;
    const upTo = after + this.#size;
    if (this.#index.scannedTo < upTo) return null;
    return { runs: this.#index.runsBetween(after, upTo).toSorted(byHash), upTo };
  }
}
