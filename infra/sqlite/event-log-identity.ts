import { randomUUID } from "node:crypto";
import type { Database } from "./driver.ts";

/** What names the log, beside its events: whoever copies these to another log leaves it behind. */
const TABLE = "log_identity";

const isNamed = (db: Database): boolean =>
  db.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?").get(TABLE) !== undefined;

/** Names the log if nobody has: once, whoever opens it. */
export const giveIdentity = (db: Database): void => {
  if (isNamed(db)) return;
  db.exec("BEGIN IMMEDIATE");
  try {
    // Another process may have been first while this one waited.
    if (!isNamed(db)) {
      db.exec(`CREATE TABLE ${TABLE} (identity TEXT NOT NULL) STRICT`);
      db.prepare(`INSERT INTO ${TABLE} (identity) VALUES (?)`).run(randomUUID());
    }
    db.exec("COMMIT");
  } finally {
    if (db.isTransaction) db.exec("ROLLBACK");
  }
};

/** Null for a log that was last written by a version without identities. */
export const identityIn = (db: Database): string | null =>
  isNamed(db) ? String(db.prepare(`SELECT identity FROM ${TABLE}`).get()?.identity) : null;
