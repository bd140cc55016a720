import { readdirSync, statfsSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** What one event takes on disk; null for an engine that keeps its data elsewhere. */
export type BytesPerEvent = { readonly log: number | null; readonly views: number | null };

/** What a log takes beyond its events while it grows: write-ahead logs, and indexes that deepen. */
const GROWS_BY = 1.3;

/** Bytes of a SQLite database with its write-ahead log; null if the folder has none of this name. */
export const databaseBytes = (dir: string, name: "log.db" | "views.db"): number | null => {
  const files = readdirSync(dir).filter((file) => file.startsWith(name));
  return files.length === 0 ? null : files.reduce((sum, file) => sum + statSync(join(dir, file)).size, 0);
};

export const bytesOfBoth = ({ log, views }: BytesPerEvent): number | null =>
  log === null && views === null ? null : (log ?? 0) + (views ?? 0);

export const freeBytes = (): number => {
  const { bavail, bsize } = statfsSync(tmpdir());
  return bavail * bsize;
};

/** `wanted`, or the largest number of events of this size for which there is room. */
export const eventsThatFit = (wanted: number, bytesPerEvent: number | null, free: number): number =>
  bytesPerEvent === null ? wanted : Math.min(wanted, Math.floor(free / (bytesPerEvent * GROWS_BY)));
