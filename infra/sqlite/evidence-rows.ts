import { hash } from "node:crypto";
import type { Frontier } from "../../domain/evidence/merkle.ts";
import type { SealedHead } from "../../domain/ports/evidence-store.ts";
import { EvidenceDamaged } from "../evidence-errors.ts";
import type { Database, SqlRow, SqlValue } from "./driver.ts";

const HASH_BYTES = 32;
const SUM_BYTES = 8;
export const NO_LEAF = -1;

export const sumOf = (hashes: Uint8Array): Uint8Array => hash("sha256", hashes, "buffer").subarray(0, SUM_BYTES);

/** The tables declare this column as BLOB NOT NULL. */
export const bytesOf = (value: SqlValue | undefined): Uint8Array => {
  if (value instanceof Uint8Array) return value;
  throw new EvidenceDamaged("a hash is not there");
};

/** Bytes with their sum in front, so that a changed byte is found when they are read. */
export const withSum = (bytes: Uint8Array): Uint8Array => Buffer.concat([sumOf(bytes), bytes]);

export const withoutSum = (value: SqlValue | undefined): Uint8Array => {
  const all = bytesOf(value);
  const bytes = all.subarray(SUM_BYTES);
  if (Buffer.compare(sumOf(bytes), all.subarray(0, SUM_BYTES)) !== 0) throw new EvidenceDamaged("a row was changed");
  return bytes;
};

const rootsOf = (bytes: Uint8Array): readonly Uint8Array[] =>
  Array.from({ length: bytes.length / HASH_BYTES }, (_, i) => bytes.slice(i * HASH_BYTES, (i + 1) * HASH_BYTES));

export const frontierOf = (row: SqlRow): Frontier => ({
  size: Number(row.size),
  roots: rootsOf(bytesOf(row.frontier)),
});

export const sealedOf = (row: SqlRow | undefined): SealedHead | null =>
  row === undefined
    ? null
    : {
        account: String(row.name),
        size: Number(row.size),
        root: Buffer.from(bytesOf(row.root)).toString("base64"),
        leaf: Number(row.leaf),
      };

export const statementsOf = (database: Database) => {
  const sealed = "SELECT name, sealed.size, root, leaf FROM sealed JOIN trees ON number = tree";
  return {
    state: database.prepare("SELECT log, position, record, instance FROM state"),
    newState: database.prepare("INSERT INTO state (id, log, instance) VALUES (1, ?, ?)"),
    moveState: database.prepare("UPDATE state SET position = ?, record = ?, instance = ? WHERE position IS ?"),
    tree: database.prepare("SELECT number, size, frontier FROM trees WHERE name = ?"),
    newTree: database.prepare(
      `INSERT INTO trees (name, size, frontier, sealed_size, sealed_leaf) VALUES (?, 0, x'', 0, ${NO_LEAF})`,
    ),
    grow: database.prepare("UPDATE trees SET size = ?, frontier = ? WHERE number = ?"),
    tile: database.prepare("SELECT hashes, sum FROM tiles WHERE tree = ? AND level = ? AND number = ?"),
    putTile: database.prepare(
      `INSERT INTO tiles (tree, level, number, hashes, sum) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET hashes = excluded.hashes, sum = excluded.sum`,
    ),
    key: database.prepare("SELECT n, last FROM keys WHERE tree = ? AND key = ?"),
    putKey: database.prepare(
      "INSERT INTO keys (tree, key, n, last) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET n = excluded.n, last = excluded.last",
    ),
    newestSealed: database.prepare(`${sealed} WHERE name = ? ORDER BY sealed.size DESC LIMIT 1`),
    firstSealed: database.prepare(`${sealed} WHERE name = ? AND sealed.size > ? ORDER BY sealed.size LIMIT 1`),
    sealedBefore: database.prepare(`${sealed} WHERE name = ? AND leaf < ? ORDER BY sealed.size DESC LIMIT 1`),
    sealedAt: database.prepare(`${sealed} WHERE leaf = ?`),
    putSealed: database.prepare("INSERT INTO sealed (leaf, tree, size, root) VALUES (?, ?, ?, ?)"),
    markSealed: database.prepare("UPDATE trees SET sealed_size = ?, sealed_leaf = ? WHERE number = ?"),
    unsealed: database.prepare(
      "SELECT name, size, frontier FROM trees WHERE size > sealed_size AND name <> '' ORDER BY sealed_leaf LIMIT ?",
    ),
  };
};
