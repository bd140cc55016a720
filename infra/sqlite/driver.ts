/**
 * Callers must keep a reference to every open database: the garbage collector closes an unreferenced one under its
 * statements. https://nodejs.org/api/sqlite.html
 */

import { withoutWarnings } from "../without-warnings.ts";

/** Node 20 and 22 cut text at a NUL when they read it, so text from outside is stored only as JSON. */
export type SqlValue = null | number | bigint | string | Uint8Array;
export type SqlRow = Readonly<Record<string, SqlValue>>;

export type Statement = {
  run(...parameters: readonly SqlValue[]): {
    readonly changes: number | bigint;
    readonly lastInsertRowid: number | bigint;
  };
  get(...parameters: readonly SqlValue[]): SqlRow | undefined;
  all(...parameters: readonly SqlValue[]): SqlRow[];
};

export type Database = {
  readonly isOpen: boolean;
  readonly isTransaction: boolean;
  exec(sql: string): void;
  prepare(sql: string): Statement;
  /** After this, @photostructure/sqlite frees the file only once the garbage collector has taken its statements. */
  close(): void;
};

export type DatabaseOptions = {
  readonly readOnly?: boolean;
  readonly timeout?: number;
};

type Driver = { readonly DatabaseSync: new (path: string, options?: DatabaseOptions) => Database };

/** Earlier releases of SQLite could corrupt the file during a checkpoint (https://sqlite.org/wal.html#walresetbug). */
const SQLITE_MIN = [3, 51, 3] as const;

export const isSoundVersion = (version: string): boolean => {
  const parts = version.split(".").map(Number);
  for (const [index, min] of SQLITE_MIN.entries()) {
    const part = parts[index] ?? 0;
    if (part !== min) return part > min;
  }
  return true;
};

const builtIn = (): Driver | null => {
  // Node 22 warns that the module is experimental, and the types of Node 20 do not have it.
  const driver = withoutWarnings(() => process.getBuiltinModule("node:sqlite")) as Driver | undefined;
  const version = process.versions.sqlite ?? "0";
  return driver !== undefined && isSoundVersion(version) ? driver : null;
};

// @photostructure/sqlite types a column's value as `any`, so `Driver` replaces its types.
const driver: Driver = builtIn() ?? ((await import("@photostructure/sqlite")) as unknown as Driver);

export const { DatabaseSync } = driver;
