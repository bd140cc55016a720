import type { AppendOutcome, Expected, GroupedAppend, GroupedOutcome } from "../../domain/ports/event-log.ts";
import { errorMessage } from "../error-message.ts";
import { positionOf } from "../event-log-arguments.ts";
import { appendedInOrder } from "../grouped-appends.ts";
import { BLANK_TYPE, type StreamName } from "../stream-name.ts";
import type { Database } from "./driver.ts";
import { IndexBatches } from "./index-batches.ts";
import { type Entry, StreamIndex } from "./stream-index.ts";

export type EventText = { readonly id: string; readonly type: string; readonly data: string; readonly meta: string };

/** An event as it is stored: bytes are text in UTF-8. */
export type EventRow = Pick<EventText, "id" | "type"> & {
  readonly data: string | Uint8Array;
  readonly meta: string | Uint8Array;
};

export type Append<E = EventRow> = {
  readonly kind: "append";
  readonly category: string;
  readonly key: string;
  readonly expected: Expected;
  readonly events: readonly E[];
};
/** All of it is in one transaction. */
type Group<E> = {
  readonly kind: "group";
  readonly appends: readonly (Append<E> & Pick<GroupedAppend, "follows">)[];
};
type Erase = {
  readonly kind: "erase";
  readonly category: string;
  readonly key: string;
  readonly upTo: number;
};
export type Operation<E = EventRow> = Append<E> | Group<E> | Erase;

export type Outcome =
  | AppendOutcome
  | { readonly outcome: "group"; readonly outcomes: readonly GroupedOutcome[] }
  | { readonly outcome: "erased" };

/** `unavailable`: nothing of the group was written. `unknown`: all of it may have been written. */
export type GroupResult =
  /** `indexed`: rows written to the index, each to a page that no other row may share. */
  | { readonly result: "committed"; readonly outcomes: readonly Outcome[]; readonly indexed: number }
  | { readonly result: "unavailable" | "unknown"; readonly reason: string };

export type EventLogWriter = {
  commit(operations: readonly Operation[]): GroupResult;
};

const BLANK_ROW: EventRow = { id: "", type: "", data: "", meta: "" };

/** `index` and `batches` are for tests, which give another index, and smaller batches. */
export const eventLogWriter = (
  db: Database,
  index = new StreamIndex(db),
  batches = new IndexBatches(db, index),
): EventLogWriter => {
  const begin = db.prepare("BEGIN IMMEDIATE");
  const commit = db.prepare("COMMIT");
  const insert = db.prepare(
    `INSERT INTO events (category, key, revision, id, type, data, meta)
      VALUES (?, ?, ?, ?, ?, CAST(? AS TEXT), CAST(? AS TEXT))`,
  );
  const idAt = db.prepare("SELECT id FROM events WHERE position = ?");
  const typeAt = db.prepare("SELECT type FROM events WHERE position = ?");
  // Erased rows stay, blank: revisions and positions are never reused, and a late repeat is recognised by its ids.
  const blank = db.prepare("UPDATE events SET type = '', data = '', meta = '' WHERE position = ? AND type <> ''");
  /** How many rows the current transaction has inserted. */
  let inserted = 0;
  // The newest records are read now and not within the first transaction.
  index.refresh();

  const write = ({ category, key }: StreamName, revision: number, event: EventRow): number => {
    const done = insert.run(category, key, revision, event.id, event.type, event.data, event.meta);
    const position = Number(done.lastInsertRowid);
    index.add({ category, key, revision, position });
    inserted += 1;
    return position;
  };

  const insertAt = (append: Append, first: number): AppendOutcome => {
    let position = 0;
    for (const [offset, event] of append.events.entries()) position = write(append, first + offset, event);
    return { outcome: "appended", revision: first + append.events.length - 1, position: positionOf(position) };
  };

  const repeatOf = ({ events }: Append, stored: readonly Entry[]): AppendOutcome | null => {
    const last = stored.at(-1);
    if (last === undefined || stored.length < events.length) return null;
    if (!events.every(({ id }, offset) => id === idAt.get(stored[offset]?.position ?? 0)?.id)) return null;
    return { outcome: "appended", revision: last.revision, position: positionOf(last.position) };
  };

  const append = (append: Append): AppendOutcome => {
    const { expected, events } = append;
    const newest = index.newest(append, expected === "any" ? events.length : 1);
    const head = newest.at(-1)?.revision ?? -1;
    if (expected === "any") return repeatOf(append, newest) ?? insertAt(append, head + 1);
    const first = expected === "absent" ? 0 : expected + 1;
    if (head === first - 1) return insertAt(append, first);
    const conflict: AppendOutcome = { outcome: "conflict", actual: head === -1 ? "absent" : head };
    return head < first ? conflict : (repeatOf(append, index.from(append, first, events.length)) ?? conflict);
  };

  const erase = (erase: Erase): Outcome => {
    const head = index.newest(erase, 1)[0];
    if (head === undefined) return { outcome: "erased" };
    const type = typeAt.get(head.position)?.type;
    for (const { revision, position } of index.from(erase, 0, head.revision + 1)) {
      if (revision <= erase.upTo) blank.run(position);
    }
    // A blank row after the last erased event makes a pending append that expects that event a conflict.
    if (head.revision <= erase.upTo && type !== "" && type !== BLANK_TYPE) write(erase, head.revision + 1, BLANK_ROW);
    return { outcome: "erased" };
  };

  const apply = (operation: Operation): Outcome => {
    switch (operation.kind) {
      case "append":
        return append(operation);
      case "group":
        return { outcome: "group", outcomes: appendedInOrder(operation.appends, append) };
      case "erase":
        return erase(operation);
    }
  };

  const rollBack = (): void => {
    if (db.isTransaction) db.exec("ROLLBACK");
    index.reset();
    batches.rolledBack();
  };

  return {
    commit(operations) {
      try {
        begin.run();
      } catch (error) {
        return { result: "unavailable", reason: errorMessage(error) };
      }
      let outcomes: readonly Outcome[];
      let indexed = 0;
      try {
        index.refresh();
        inserted = 0;
        outcomes = operations.map(apply);
        indexed = batches.write(inserted);
      } catch (error) {
        rollBack();
        return { result: "unavailable", reason: errorMessage(error) };
      }
      try {
        commit.run();
      } catch (error) {
        // The sync may have failed after the commit record was written, so a restart could still find the group.
        rollBack();
        return { result: "unknown", reason: errorMessage(error) };
      }
      batches.committed();
      return { result: "committed", outcomes, indexed };
    },
  };
};
