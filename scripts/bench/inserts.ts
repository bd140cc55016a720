import { openWriting } from "../../infra/sqlite/event-log-schema.ts";
import type { Records } from "./admission-records.ts";
import { answerParent } from "./child.ts";
import { monotonicMs } from "./clock.ts";

/** This process inserts an admission's two rows into a table in synced groups, to measure storage alone. */

/** The log's first table. It stays as it was, so that all versions are compared with the same yardstick. */
const TABLE = `
  CREATE TABLE yardstick (
    position INTEGER PRIMARY KEY,
    category TEXT NOT NULL,
    key TEXT NOT NULL,
    revision INTEGER NOT NULL,
    id TEXT NOT NULL,
    type TEXT NOT NULL,
    data TEXT NOT NULL,
    meta TEXT NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX yardstick_by_stream ON yardstick (key, category, revision);
  PRAGMA cache_size = -32768;
`;

export type InsertsOrder = {
  readonly path: string;
  readonly seconds: number;
  readonly groupRows: number;
} & Records;

const inserted = ({ path, seconds, groupRows, payload, admitted }: InsertsOrder): number => {
  const db = openWriting({ path });
  db.exec(TABLE);
  // SQLite's default. In the service another thread checkpoints, here each connection does.
  db.exec("PRAGMA wal_autocheckpoint = 1000");
  const insert = db.prepare(
    "INSERT INTO yardstick (category, key, revision, id, type, data, meta) VALUES (?, ?, 0, ?, ?, ?, ?)",
  );
  const suffix = (n: number): string => ((n * 2_654_435_761) % 2 ** 32).toString(32).padStart(7, "0");
  const startedAt = monotonicMs();
  let pairs = 0;
  let elapsedMs = 0;
  for (; elapsedMs < seconds * 1_000; elapsedMs = monotonicMs() - startedAt) {
    db.exec("BEGIN IMMEDIATE");
    for (let row = 0; row < groupRows; row += 2) {
      // The service's ids are hashes, so a new key may belong anywhere in the index.
      const key = `evt_${suffix(pairs)}${pairs.toString(32).padStart(25, "a")}`;
      insert.run("payload", key, payload.id, payload.type, payload.data, payload.meta);
      insert.run("delivery", key, admitted.id, admitted.type, admitted.data, admitted.meta);
      pairs += 1;
    }
    db.exec("COMMIT");
  }
  db.close();
  return pairs / (elapsedMs / 1_000);
};

answerParent<InsertsOrder, number>(async (order) => inserted(order));
