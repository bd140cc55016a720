/**
 * The `node:sqlite` API (https://nodejs.org/api/sqlite.html): Node's own where it is there without a flag, else the
 * package that offers the same with its binaries inside, so that it loads where install scripts are off.
 *
 * Keep a reference to every database for as long as it is used: the collector closes what nobody holds, also under
 * the statements prepared on it.
 */

import { withoutWarnings } from "../without-warnings.ts";

/** Text is cut at a NUL when it is read (on Node 20 and 22): only JSON, which escapes it, may come from outside. */
export type SqlValue = null | number | bigint | string | Uint8Array;
export type SqlRow = Readonly<Record<string, SqlValue>>;

/** The part of `StatementSync` that both implementations have. */
export type Statement = {
  run(...parameters: readonly SqlValue[]): {
    readonly changes: number | bigint;
    readonly lastInsertRowid: number | bigint;
  };
  get(...parameters: readonly SqlValue[]): SqlRow | undefined;
  all(...parameters: readonly SqlValue[]): SqlRow[];
};

/** The part of `DatabaseSync` that both implementations have. Errors carry SQLite's code as `errcode`. */
export type Database = {
  readonly isOpen: boolean;
  readonly isTransaction: boolean;
  exec(sql: string): void;
  prepare(sql: string): Statement;
  /** The package frees the file itself only when the statements prepared on it have been collected as well. */
  close(): void;
};

export type DatabaseOptions = {
  readonly readOnly?: boolean;
  /** Milliseconds that a statement waits for a lock before it fails with SQLITE_BUSY. */
  readonly timeout?: number;
};

type Driver = { readonly DatabaseSync: new (path: string, options?: DatabaseOptions) => Database };

/**
 * The first release without the WAL-reset bug (https://sqlite.org/wal.html#walresetbug): before it, a checkpoint in one
 * connection beside a commit in another, which is how the event log works, could corrupt the file.
 */
const SQLITE_MIN = [3, 51, 3] as const;

/** Whether a version as `3.51.3` is `SQLITE_MIN` or later. */
export const isSoundVersion = (version: string): boolean => {
  const parts = version.split(".").map(Number);
  for (const [index, min] of SQLITE_MIN.entries()) {
    const part = parts[index] ?? 0;
    if (part !== min) return part > min;
  }
  return true;
};

const builtIn = (): Driver | null => {
  // Node 22 warns at the first load that it is experimental: our versions are pinned and tested, so that is noise.
  // Typed by hand: the types of Node 20 do not know the module.
  const driver = withoutWarnings(() => process.getBuiltinModule("node:sqlite")) as Driver | undefined;
  const version = process.versions.sqlite ?? "0";
  return driver !== undefined && isSoundVersion(version) ? driver : null;
};

// The package's own types say `any` for what a column holds; `Driver` is what both document.
const driver: Driver = builtIn() ?? ((await import("@photostructure/sqlite")) as unknown as Driver);

export const { DatabaseSync } = driver;
