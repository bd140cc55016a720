import type { JsonObject } from "../../domain/json.ts";
import type { Metadata, Position, RecordedEvent, Revision, TypesPage } from "../../domain/ports/event-log.ts";
import { damaged } from "../damaged-event.ts";
import { numberOf, positionOf } from "../event-log-arguments.ts";
import { ERASABLE_CATEGORIES, FREQUENT_CATEGORIES, type StreamName } from "../stream-name.ts";
import type { SqlRow } from "./driver.ts";
import { identityIn } from "./event-log-identity.ts";
import { openReading } from "./event-log-schema.ts";
import { metadataIn } from "./metadata-text.ts";
import { type Entry, StreamIndex } from "./stream-index.ts";

const isNoneOf = (categories: readonly string[]): string =>
  `category NOT IN (${categories.map((category) => `'${category}'`).join(", ")})`;
const IS_RECORD = isNoneOf(ERASABLE_CATEGORIES);
/** Streams of the configuration are read on and on, and would else each time take up all events that came meanwhile. */
const IS_RARE = isNoneOf(FREQUENT_CATEGORIES);

export type EventLogReader = {
  read(stream: StreamName, after: Revision | null, limit: number): RecordedEvent[];
  last(stream: StreamName): RecordedEvent | null;
  /** This process has appended `count` records, the last of them at `position`, so they need not be looked for. */
  appended(stream: StreamName, count: number, position: Position): void;
  readAll(after: Position | null, limit: number, what: "everything" | "records"): RecordedEvent[];
  readTypes(types: readonly string[], after: Position | null, limit: number): TypesPage;
  head(what: "everything" | "records"): Position | null;
  identity(): string;
  /** The number changes whenever another connection, of this process or of another one, commits. */
  dataVersion(): number;
  close(): void;
};

// The columns are STRICT, so every row has these types.
type Row = SqlRow & {
  readonly position: number;
  readonly category: string;
  readonly key: string;
  readonly revision: number;
  readonly id: string;
  readonly type: string;
  readonly data: string;
  readonly meta: string;
};

const nameOf = ({ category, key, revision, id, position }: Row) => ({
  stream: `${category}-${key}`,
  revision,
  id,
  position: positionOf(position),
});

/** Successive rows with the same metadata, as one append writes them, have their metadata parsed once. */
const recorded = (rows: readonly Row[]): RecordedEvent[] => {
  let text = "";
  let meta: Metadata | undefined;
  return rows.map((row) => {
    try {
      if (meta === undefined || row.meta !== text) {
        meta = metadataIn(row.meta);
        text = row.meta;
      }
      return {
        id: row.id,
        type: row.type,
        data: JSON.parse(row.data) as JsonObject,
        meta,
        stream: `${row.category}-${row.key}`,
        revision: row.revision,
        position: positionOf(row.position),
      };
    } catch {
      return damaged(nameOf(row));
    }
  });
};

/** Rows that one look for types reads. The main thread does so, and from a cold disk a row takes up to a millisecond. */
const SCAN_MAX = 1_024;

/** If the newest entries of a stream were all erased, so many times more of them are looked at next. */
const LAST_FACTOR = 16;

const COLUMNS = "position, category, key, revision, id, type, data, meta";

/** `hash` is for tests: it replaces the hash of the streams' names. */
export const openReader = (path: string, hash?: (stream: StreamName) => number): EventLogReader => {
  const db = openReading(path);
  const everyStream = new StreamIndex(db, { hash });
  const rareStreams = new StreamIndex(db, { hash, only: IS_RARE });
  // The newest records are read now and not during the first request.
  everyStream.refresh();
  rareStreams.refresh();
  const indexOf = ({ category }: StreamName): StreamIndex => {
    const index = FREQUENT_CATEGORIES.includes(category) ? everyStream : rareStreams;
    index.refresh();
    return index;
  };
  // An erased event has an empty type.
  const at = db.prepare(
    `SELECT ${COLUMNS} FROM events WHERE position IN (SELECT value FROM json_each(?)) AND type <> '' ORDER BY position`,
  );
  const all = db.prepare(`SELECT ${COLUMNS} FROM events WHERE position > ? AND type <> '' ORDER BY position LIMIT ?`);
  const records = db.prepare(
    `SELECT ${COLUMNS} FROM events WHERE position > ? AND ${IS_RECORD} AND type <> '' ORDER BY position LIMIT ?`,
  );
  const typed = db.prepare(
    `SELECT ${COLUMNS} FROM events WHERE position > ? AND position <= ? AND type IN (SELECT value FROM json_each(?))
     ORDER BY position LIMIT ?`,
  );
  const head = db.prepare("SELECT position FROM events WHERE type <> '' ORDER BY position DESC LIMIT 1");
  const lastRecord = db.prepare(
    `SELECT position FROM events WHERE ${IS_RECORD} AND type <> '' ORDER BY position DESC LIMIT 1`,
  );
  const version = db.prepare("PRAGMA data_version");
  const rowsAt = (entries: readonly Entry[]): Row[] =>
    entries.length === 0 ? [] : (at.all(JSON.stringify(entries.map(({ position }) => position))) as Row[]);

  return {
    read(stream, after, limit) {
      const index = indexOf(stream);
      const rows: Row[] = [];
      for (let next = (after ?? -1) + 1; rows.length < limit; ) {
        const entries = index.from(stream, next, limit - rows.length);
        const last = entries.at(-1);
        if (last === undefined) break;
        rows.push(...rowsAt(entries));
        next = last.revision + 1;
      }
      return recorded(rows);
    },
    last(stream) {
      const index = indexOf(stream);
      for (let limit = 1; ; limit *= LAST_FACTOR) {
        const entries = index.newest(stream, limit);
        const row = rowsAt(entries).at(-1);
        if (row !== undefined) return recorded([row])[0] ?? null;
        if (entries.length < limit) return null;
      }
    },
    appended({ category }, count, position) {
      const upTo = numberOf(position);
      if (FREQUENT_CATEGORIES.includes(category)) rareStreams.skip(upTo - count, upTo);
    },
    readAll: (after, limit, what) =>
      recorded((what === "records" ? records : all).all(numberOf(after), limit) as Row[]),
    readTypes(types, after, limit) {
      const from = numberOf(after);
      const end = Math.min(from + SCAN_MAX, Number(head.get()?.position ?? 0));
      if (end <= from) return { events: [], upTo: null };
      const events = recorded(typed.all(from, end, JSON.stringify(types), limit) as Row[]);
      return { events, upTo: events.length < limit ? positionOf(end) : (events.at(-1)?.position ?? null) };
    },
    head(what) {
      const position = (what === "records" ? lastRecord : head).get()?.position;
      return position === undefined ? null : positionOf(Number(position));
    },
    identity: () => identityIn(db),
    dataVersion: () => Number(version.get()?.data_version),
    close: () => db.close(),
  };
};
