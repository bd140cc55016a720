import { randomUUID } from "node:crypto";
import type { Database } from "./driver.ts";

/** The identity is stored apart from the events, so that a copy of the events has another identity. */
const TABLE = "log_identity";

export const giveIdentity = (db: Database): void => {
  db.exec(`CREATE TABLE ${TABLE} (identity TEXT NOT NULL) STRICT`);
  db.prepare(`INSERT INTO ${TABLE} (identity) VALUES (?)`).run(randomUUID());
};

export const identityIn = (db: Database): string => String(db.prepare(`SELECT identity FROM ${TABLE}`).get()?.identity);
