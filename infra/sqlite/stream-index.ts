import { LRUCache } from "lru-cache";
import type { StreamName } from "../stream-name.ts";
import type { Database, SqlRow } from "./driver.ts";

/**
 * A row has the positions of successive records of one stream, from `revision` on: the first in `position`, the rest as a
 * JSON array in `others`.
 */
export const INDEX_SCHEMA = `
  CREATE TABLE streams (
    hash INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    position INTEGER NOT NULL,
    others TEXT NOT NULL,
    PRIMARY KEY (hash, revision, position)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE indexed (up_to INTEGER NOT NULL) STRICT;
  INSERT INTO indexed VALUES (0);
`;

/** Where one record of a stream is. */
export type Entry = { readonly revision: number; readonly position: number };
type NamedEntry = Entry & StreamName;
/** Where successive records of one stream are. */
export type Run = { readonly hash: number; readonly entries: readonly Entry[] };

// The columns are STRICT, so every row has these types.
type RunRow = SqlRow & Entry & { readonly others: string };
type NamedRow = SqlRow & NamedEntry;

/** Rows that one statement reads while a connection catches up. */
const SCAN_PAGE = 1_024;

const RUNS_PAGE = 8;

/** Streams whose ends in the table are remembered. */
const ENDS_MAX = 10_000;

const KEY_HIGH_BITS = 2 ** 8;
const CATEGORIES = 2 ** 12;

/** A hash of 40 bits that is good enough for a table, and ten times cheaper than a cryptographic one (cyrb53, bryc). */
const mixed = (text: string): number => {
  let a = 0xdeadbeef;
  let b = 0x41c6ce57;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    a = Math.imul(a ^ unit, 2_654_435_761);
    b = Math.imul(b ^ unit, 1_597_334_677);
  }
  a = Math.imul(a ^ (a >>> 16), 2_246_822_507) ^ Math.imul(b ^ (b >>> 13), 3_266_489_909);
  b = Math.imul(b ^ (b >>> 16), 2_246_822_507) ^ Math.imul(a ^ (a >>> 13), 3_266_489_909);
  return (b >>> 0) * KEY_HIGH_BITS + ((a >>> 0) % KEY_HIGH_BITS);
};

/**
 * 52 bits, which a number holds exactly: 40 of the key and 12 of the category. Streams with the same key, such as
 * `delivery-x` and `payload-x`, are next to each other in the index. Streams may share a hash, so every lookup compares
 * the name in the record.
 */
const hashOf = ({ category, key }: StreamName): number => mixed(key) * CATEGORIES + (mixed(category) % CATEGORIES);

const nameOf = ({ category, key }: StreamName): string => `${category}-${key}`;

/** `hash` is for tests: it replaces the hash of the streams' names. */
type IndexOptions = { readonly hash?: ((stream: StreamName) => number) | undefined; readonly only?: string };

/** `hash`: null until it is needed. */
type TailStream = { readonly stream: StreamName; hash: number | null; entries: Entry[] };

// `index-batches.ts` wrote `others` as a JSON array of positions.
const positionsIn = ({ position, others }: RunRow): readonly number[] =>
  others === "" ? [position] : [position, ...(JSON.parse(others) as readonly number[])];

/**
 * Finds the records of a stream. The table `streams` has the entry of every record up to `indexed.up_to`. Entries of
 * later records, the tail, are in the memory of each connection, which reads them from `events`. So an append writes at
 * the end of one table alone, and the index is written in sorted batches later (`index-batches.ts`).
 */
export class StreamIndex {
  readonly #version;
  readonly #ends;
  readonly #scan;
  readonly #runs;
  readonly #runAt;
  readonly #hashOf: (stream: StreamName) => number;
  readonly #tail = new Map<string, TailStream>();
  /** The revision from which on the table has no entry of a stream: streams of the configuration are read on and on. */
  readonly #endInTable = new LRUCache<string, number>({ max: ENDS_MAX });
  #scannedTo = 0;
  #indexedTo = 0;
  #seenVersion: unknown = null;
  #lastHashed: { readonly name: string; readonly hash: number } | null = null;

  /** `only` is a condition of SQL: the tail leaves out what it excludes. */
  constructor(db: Database, { hash = hashOf, only = "TRUE" }: IndexOptions = {}) {
    this.#hashOf = hash;
    this.#version = db.prepare("PRAGMA data_version");
    this.#ends = db.prepare("SELECT up_to, (SELECT max(position) FROM events) AS head FROM indexed");
    this.#scan = db.prepare(
      `SELECT position, category, key, revision FROM events WHERE position > ? AND position <= ? AND ${only}
       ORDER BY position LIMIT ?`,
    );
    const runs = `SELECT streams.revision, streams.position, others FROM streams JOIN events USING (position)
      WHERE hash = ? AND key = ? AND category = ?`;
    this.#runs = db.prepare(`${runs} AND streams.revision >= ? ORDER BY streams.revision LIMIT ${RUNS_PAGE}`);
    this.#runAt = db.prepare(`${runs} AND streams.revision <= ? ORDER BY streams.revision DESC LIMIT 1`);
  }

  /** The position up to which all entries are in the table. */
  get indexedTo(): number {
    return this.#indexedTo;
  }

  /** The position of the newest record that this connection knows. */
  get scannedTo(): number {
    return this.#scannedTo;
  }

  /** The tail's entries after the position `after` and up to `upTo`, with a run for each stream. */
  runsBetween(after: number, upTo: number): readonly Run[] {
    const runs: Run[] = [];
    for (const stream of this.#tail.values()) {
      if ((stream.entries[0]?.position ?? 0) > upTo) continue;
      const entries = stream.entries.filter(({ position }) => position > after && position <= upTo);
      if (entries.length > 0) runs.push({ hash: this.#hashIn(stream), entries });
    }
    return runs;
  }

  /** Learns what other connections have appended and indexed since the last call. */
  refresh(): void {
    const version = this.#version.get()?.data_version;
    if (version === this.#seenVersion) return;
    const ends = this.#ends.get();
    this.forgetUpTo(Number(ends?.up_to));
    this.#scanTo(Number(ends?.head ?? 0));
    this.#seenVersion = version;
  }

  /** Takes notice of records after `after` and up to `upTo` that are none of this tail, if it knows those before them. */
  skip(after: number, upTo: number): void {
    if (this.#scannedTo === after) this.#scannedTo = upTo;
  }

  /** Adds a record that this connection has appended or read to the tail; called in the order of positions. */
  add({ category, key, revision, position }: NamedEntry): void {
    this.#tailOf({ category, key }).entries.push({ revision, position });
    this.#scannedTo = position;
  }

  /** Removes the tail's entries up to `position`, because the table has them. */
  forgetUpTo(position: number): void {
    if (position <= this.#indexedTo) return;
    this.#indexedTo = position;
    // The table may have entries of any stream between the two, which this tail never had.
    if (position > this.#scannedTo) this.#endInTable.clear();
    this.#scannedTo = Math.max(this.#scannedTo, position);
    for (const [name, stream] of this.#tail) {
      if ((stream.entries[0]?.position ?? 0) > position) continue;
      this.#endInTable.delete(name);
      stream.entries = stream.entries.filter((entry) => entry.position > position);
      if (stream.entries.length === 0) this.#tail.delete(name);
    }
  }

  /** Empties the tail after a rollback; the next `refresh` reads it from the events. */
  reset(): void {
    this.#tail.clear();
    this.#endInTable.clear();
    this.#scannedTo = this.#indexedTo;
    this.#seenVersion = null;
  }

  /** The stream's entries from `revision` on, those of erased records included. */
  from(stream: StreamName, revision: number, limit: number): readonly Entry[] {
    const name = nameOf(stream);
    const tail = this.#tail.get(name)?.entries ?? [];
    const tailFrom = tail[0]?.revision ?? this.#endInTable.get(name) ?? Number.POSITIVE_INFINITY;
    const stored = revision >= tailFrom ? [] : this.#stored(stream, revision, limit);
    const next = Math.max(revision, (stored.at(-1)?.revision ?? -1) + 1);
    if (revision < tailFrom && stored.length < limit) this.#endInTable.set(name, next);
    // Revisions have no gaps, so an entry's index in the tail follows from its revision.
    const start = Math.max(0, next - tailFrom);
    const later = tail.slice(start, start + limit - stored.length);
    return stored.length === 0 ? later : [...stored, ...later];
  }

  /** The stream's newest entries in the order of revisions, those of erased records included. */
  newest(stream: StreamName, limit: number): readonly Entry[] {
    const head = this.#tail.get(nameOf(stream))?.entries.at(-1) ?? this.#storedHead(stream);
    return head === null ? [] : this.from(stream, Math.max(0, head.revision + 1 - limit), limit);
  }

  #scanTo(head: number): void {
    while (this.#scannedTo < head) {
      const rows = this.#scan.all(this.#scannedTo, head, SCAN_PAGE) as NamedRow[];
      for (const row of rows) this.add(row);
      if (rows.length < SCAN_PAGE) this.#scannedTo = head;
    }
  }

  #tailOf(stream: StreamName): TailStream {
    const name = nameOf(stream);
    const known = this.#tail.get(name);
    if (known !== undefined) return known;
    // A stream that begins was looked for in the table just before, so its hash may be known.
    const hash = this.#lastHashed?.name === name ? this.#lastHashed.hash : null;
    const added: TailStream = { stream, hash, entries: [] };
    this.#tail.set(name, added);
    return added;
  }

  #hashIn(tail: TailStream): number {
    tail.hash ??= this.#hashOf(tail.stream);
    return tail.hash;
  }

  #storedHead(stream: StreamName): Entry | null {
    const hash = this.#hashOf(stream);
    this.#lastHashed = { name: nameOf(stream), hash };
    const run = this.#runAt.get(hash, stream.key, stream.category, Number.MAX_SAFE_INTEGER);
    if (run === undefined) return null;
    const positions = positionsIn(run as RunRow);
    const last = positions.length - 1;
    return { revision: Number(run.revision) + last, position: positions[last] ?? 0 };
  }

  #stored(stream: StreamName, revision: number, limit: number): readonly Entry[] {
    const { category, key } = stream;
    const hashed = this.#hashOf(stream);
    const first = this.#runAt.get(hashed, key, category, revision) as RunRow | undefined;
    const found: Entry[] = [];
    for (let next = first?.revision ?? 0; found.length < limit; ) {
      const runs = this.#runs.all(hashed, key, category, next) as RunRow[];
      for (const run of runs) {
        const positions = positionsIn(run);
        const from = Math.max(0, revision - run.revision);
        const end = Math.min(positions.length, from + limit - found.length);
        for (let at = from; at < end; at += 1)
          found.push({ revision: run.revision + at, position: positions[at] ?? 0 });
        if (found.length >= limit) return found;
        next = run.revision + 1;
      }
      if (runs.length < RUNS_PAGE) break;
    }
    return found;
  }
}
