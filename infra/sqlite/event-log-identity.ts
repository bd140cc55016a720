import { randomUUID } from "node:crypto";
import type { Database } from "./driver.ts";

/** The log's name stands beside its events, so whoever copies the events to another log leaves the name behind. */
const TABLE = "log_identity";

/** Names a log that is being made. */
export const giveIdentity = (db: Database): void => {
  db.exec(`CREATE TABLE ${TABLE} (identity TEXT NOT NULL) STRICT`);
  db.prepare(`INSERT INTO ${TABLE} (identity) VALUES (?)`).run(randomUUID());
};

export const identityIn = (db: Database): string => String(db.prepare(`SELECT identity FROM ${TABLE}`).get()?.identity);
