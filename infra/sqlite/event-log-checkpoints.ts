import type { Worker } from "node:worker_threads";
import type { Database } from "./driver.ts";
import {
  type CheckpointerData,
  type FromCheckpointer,
  startThread,
  type ToCheckpointer,
  weightOf,
} from "./event-log-protocol.ts";
import { PAGE_BYTES } from "./event-log-schema.ts";
import type { Operation } from "./event-log-writer.ts";

/**
 * Keeps the WAL short without making appends wait: a thread copies most of it into the file during appends, and the
 * writer copies the rest between two groups of appends.
 */
export type Checkpoints = {
  written(operations: readonly Operation[], indexed: number): void;
  /** Truncates the WAL in about a second; until then it may contain erased content. */
  cutSoon(): void;
  close(): Promise<void>;
};

/** The WAL is copied whenever it has so many new bytes: small steps keep the p99 of appends at a few milliseconds. */
const COPY_AFTER_BYTES = 2 * 1024 * 1024;
/** An estimate of what an append writes besides its data: other columns, and its share of a page's header. */
const BYTES_PER_APPEND = 512;
/** Milliseconds to wait for readers of the WAL. Reading a page takes less; a longer read lets the WAL grow. */
const FINISH_WAIT_MS = 3;
const CUT_AFTER_ERASE_MS = 1_000;

export const checkpoints = (db: Database, path: string): Checkpoints => {
  let bytes = 0;
  let copier: Worker | null = null;
  let isCopying = false;
  let isCutDue = false;
  let cutTimer: NodeJS.Timeout | undefined;

  /** True if the WAL restarts with the next commit, as all of it was copied. An error is ignored: nothing is lost. */
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

  const send = (worker: Worker, message: ToCheckpointer): void => worker.postMessage(message);

  const copy = (): void => {
    if (isCopying) return;
    isCopying = true;
    bytes = 0;
    copier ??= start();
    send(copier, "copy");
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

    written(operations, indexed) {
      bytes += indexed * PAGE_BYTES;
      for (const operation of operations) {
        const { appends, size } = weightOf(operation);
        bytes += appends * BYTES_PER_APPEND + size;
        if (operation.kind === "erase") cutSoon();
      }
      if (bytes >= COPY_AFTER_BYTES) copy();
    },

    async close() {
      clearTimeout(cutTimer);
      if (copier !== null) {
        const worker = copier;
        const ended = new Promise((resolve) => worker.once("exit", resolve));
        send(worker, "close");
        await ended;
      }
      clearTimeout(cutTimer);
      finish("TRUNCATE");
    },
  };
};
