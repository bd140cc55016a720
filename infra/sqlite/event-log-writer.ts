import type { AppendOutcome, Expected } from "../../domain/ports/event-log.ts";
import { errorMessage } from "../error-message.ts";
import { positionOf } from "../event-log-arguments.ts";
import { BLANK_TYPE } from "../stream-name.ts";
import type { Database, SqlRow, Statement } from "./driver.ts";

export type EventText = { readonly id: string; readonly type: string; readonly data: string; readonly meta: string };

type Append = {
  readonly kind: "append";
  readonly category: string;
  readonly key: string;
  readonly expected: Expected;
  readonly events: readonly EventText[];
};
type Erase = {
  readonly kind: "erase";
  readonly category: string;
  readonly key: string;
  readonly upTo: number;
};
export type Operation = Append | Erase;

export type Outcome = AppendOutcome | { readonly outcome: "erased" };

/** `unavailable`: nothing was written. `unknown`: it may have been written. */
export type GroupResult =
  | { readonly result: "committed"; readonly outcomes: readonly Outcome[] }
  | { readonly result: "unavailable" | "unknown"; readonly reason: string };

export type EventLogWriter = {
  commit(operations: readonly Operation[]): GroupResult;
};

// The columns are STRICT, and no value exceeds 2^53, so every INTEGER is a number.
type StoredRow = SqlRow & { readonly revision: number; readonly position: number; readonly id: string };

export const eventLogWriter = (db: Database): EventLogWriter => {
  const begin = db.prepare("BEGIN IMMEDIATE");
  const commit = db.prepare("COMMIT");
  const insert = db.prepare(
    `INSERT INTO events (category, key, revision, id, type, data, meta) VALUES (?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (key, category, revision) DO NOTHING`,
  );
  const newest = db.prepare(
    "SELECT revision, position, id FROM events WHERE key = ? AND category = ? ORDER BY revision DESC LIMIT ?",
  );
  const from = db.prepare(
    `SELECT revision, position, id FROM events WHERE key = ? AND category = ? AND revision >= ?
     ORDER BY revision LIMIT ?`,
  );
  // A blank row after the last erased event makes a pending append that expects that event a conflict.
  const fence = db.prepare(
    `INSERT INTO events (category, key, revision, id, type, data, meta)
     SELECT category, key, revision + 1, '', '', '', '' FROM
       (SELECT * FROM events WHERE key = ? AND category = ? ORDER BY revision DESC LIMIT 1)
     WHERE revision <= ? AND type NOT IN ('', '${BLANK_TYPE}')`,
  );
  // Erased rows stay, blank, so that revisions are never reused and a late repeat is recognised by its ids.
  const blank = db.prepare(
    "UPDATE events SET type = '', data = '', meta = '' WHERE key = ? AND category = ? AND revision <= ? AND type <> ''",
  );

  const rowsOf = (statement: Statement, ...parameters: readonly (string | number)[]): StoredRow[] =>
    statement.all(...parameters) as StoredRow[];

  const headOf = ({ key, category }: Operation): number | null => rowsOf(newest, key, category, 1)[0]?.revision ?? null;

  const insertAt = ({ category, key, events }: Append, first: number): AppendOutcome | null => {
    let position = 0;
    for (const [index, event] of events.entries()) {
      const revision = first + index;
      const done = insert.run(category, key, revision, event.id, event.type, event.data, event.meta);
      if (Number(done.changes) === 0) {
        if (index > 0) throw new Error(`${category}-${key} has a gap before revision ${revision}`);
        return null;
      }
      position = Number(done.lastInsertRowid);
    }
    return { outcome: "appended", revision: first + events.length - 1, position: positionOf(position) };
  };

  const repeatOf = ({ events }: Append, stored: readonly StoredRow[]): AppendOutcome | null => {
    const last = stored.at(-1);
    if (last === undefined || stored.length < events.length) return null;
    if (!events.every(({ id }, index) => id === stored[index]?.id)) return null;
    return { outcome: "appended", revision: last.revision, position: positionOf(last.position) };
  };

  const appendAny = (append: Append): AppendOutcome => {
    const stored = rowsOf(newest, append.key, append.category, append.events.length).reverse();
    const head = stored.at(-1)?.revision ?? -1;
    const appended = repeatOf(append, stored) ?? insertAt(append, head + 1);
    if (appended === null) throw new Error(`${append.category}-${append.key} has an event after its head`);
    return appended;
  };

  const append = (append: Append): AppendOutcome => {
    const { category, key, expected, events } = append;
    if (expected === "any") return appendAny(append);
    const first = expected === "absent" ? 0 : expected + 1;
    // "absent" needs no read before the write: the unique index detects an existing stream.
    const isFuture = first > 0 && (headOf(append) ?? -1) < first - 1;
    const appended = isFuture ? null : insertAt(append, first);
    return (
      appended ??
      repeatOf(append, rowsOf(from, key, category, first, events.length)) ?? {
        outcome: "conflict",
        actual: headOf(append) ?? "absent",
      }
    );
  };

  const apply = (operation: Operation): Outcome => {
    if (operation.kind === "append") return append(operation);
    fence.run(operation.key, operation.category, operation.upTo);
    blank.run(operation.key, operation.category, operation.upTo);
    return { outcome: "erased" };
  };

  const rollBack = (): void => {
    if (db.isTransaction) db.exec("ROLLBACK");
  };

  return {
    commit(operations) {
      try {
        begin.run();
      } catch (error) {
        return { result: "unavailable", reason: errorMessage(error) };
      }
      let outcomes: readonly Outcome[];
      try {
        outcomes = operations.map(apply);
      } catch (error) {
        rollBack();
        return { result: "unavailable", reason: errorMessage(error) };
      }
      try {
        commit.run();
      } catch (error) {
        // The sync may have failed after the commit record was written, so a restart could still find it.
        rollBack();
        return { result: "unknown", reason: errorMessage(error) };
      }
      return { result: "committed", outcomes };
    },
  };
};
