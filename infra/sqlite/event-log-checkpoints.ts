import type { Worker } from "node:worker_threads";
import type { Database } from "./driver.ts";
import {
  type CheckpointerData,
  type FromCheckpointer,
  sizeOf,
  startThread,
  type ToCheckpointer,
} from "./event-log-protocol.ts";
import type { Operation } from "./event-log-writer.ts";

/**
 * Keeps the WAL short without anybody waiting for it. Most of it is copied into the file by a thread of its own while
 * appends go on; what was appended meanwhile is little, and the writer copies that between two groups and lets the WAL
 * begin anew. Without the second step it would grow for ever under load, without the first everybody would wait.
 */
export type Checkpoints = {
  /** To be called after each group, outside a transaction. */
  written(operations: readonly Operation[]): void;
  /** Cuts the WAL off in about a second. Until then it may hold what was erased. */
  cutSoon(): void;
  /** Stops the copying thread and empties the WAL as far as readers let it. */
  close(): Promise<void>;
};

/** The WAL is copied when it has grown by about so much. A sync of the file holds up the syncs of the WAL beside it, for
 * as long as it has pages to write: small steps cost no throughput and keep the appends' p99 at a few milliseconds. */
const COPY_AFTER_BYTES = 2 * 1024 * 1024;
/** An append changes a page of the index and one or two of the table, whatever its size. */
const BYTES_PER_OPERATION = 2 * 4096;
/** What the writer waits for readers that still need the WAL's pages. A page is read in less; a report is not, and then
 * the WAL grows until it ends. */
const FINISH_WAIT_MS = 3;
/** Content that was erased stays in the WAL until it is cut off: soon, but once for many erasures. */
const CUT_AFTER_ERASE_MS = 1_000;

export const checkpoints = (db: Database, path: string): Checkpoints => {
  let bytes = 0;
  let copier: Worker | null = null;
  let isCopying = false;
  let isCutDue = false;
  let cutTimer: NodeJS.Timeout | undefined;

  /** True when the WAL begins anew with the next commit. Never throws: a failed checkpoint loses nothing. */
  const finish = (mode: "RESTART" | "TRUNCATE"): boolean => {
    try {
      const { timeout } = db.prepare("PRAGMA busy_timeout").get() ?? {};
      db.exec(`PRAGMA busy_timeout = ${FINISH_WAIT_MS}`);
      const done = db.prepare(`PRAGMA wal_checkpoint(${mode})`).get();
      db.exec(`PRAGMA busy_timeout = ${timeout}`);
      return done?.busy === 0;
    } catch {
      return false;
    }
  };

  const finished = (copied: boolean): void => {
    isCopying = false;
    if (copied && finish(isCutDue ? "TRUNCATE" : "RESTART")) isCutDue = false;
    if (isCutDue) cutSoon();
  };

  const start = (): Worker => {
    const data: CheckpointerData = { path };
    const worker = startThread("event-log-checkpointer", data);
    worker.on("message", ({ copied }: FromCheckpointer) => finished(copied));
    worker.on("error", () => undefined);
    worker.on("exit", () => {
      copier = null;
      if (isCopying) finished(false);
    });
    return worker;
  };

  const tell = (worker: Worker, message: ToCheckpointer): void => worker.postMessage(message);

  const copy = (): void => {
    if (isCopying) return;
    isCopying = true;
    bytes = 0;
    copier ??= start();
    tell(copier, "copy");
  };

  const cutSoon = (): void => {
    isCutDue = true;
    cutTimer ??= setTimeout(() => {
      cutTimer = undefined;
      copy();
    }, CUT_AFTER_ERASE_MS);
  };

  return {
    cutSoon,

    written(operations) {
      for (const operation of operations) {
        bytes += BYTES_PER_OPERATION + sizeOf(operation);
        if (operation.kind === "erase") cutSoon();
      }
      if (bytes >= COPY_AFTER_BYTES) copy();
    },

    async close() {
      clearTimeout(cutTimer);
      if (copier !== null) {
        const worker = copier;
        const ended = new Promise((resolve) => worker.once("exit", resolve));
        tell(worker, "close");
        await ended;
      }
      clearTimeout(cutTimer);
      finish("TRUNCATE");
    },
  };
};
