import { parentPort, workerData } from "node:worker_threads";
import type { CheckpointerData, FromCheckpointer, ToCheckpointer } from "./event-log-protocol.ts";
import { openCheckpointing } from "./event-log-schema.ts";

/** The second round copies what was appended during the first and leaves little for the writer. */
const ROUNDS = 2;

if (parentPort === null) throw new Error("the event log's checkpointer is a worker thread");
const port = parentPort;
// Only event-log-checkpoints.ts starts this thread.
const db = openCheckpointing((workerData as CheckpointerData).path);
// PASSIVE copies what it can, and waits for no reader and no writer.
const checkpoint = db.prepare("PRAGMA wal_checkpoint(PASSIVE)");

const copy = (): FromCheckpointer => {
  try {
    for (let round = 0; round < ROUNDS; round += 1) checkpoint.get();
    return { copied: true };
  } catch {
    return { copied: false };
  }
};

port.on("message", (message: ToCheckpointer) => {
  if (message === "copy") {
    port.postMessage(copy());
    return;
  }
  db.close();
  port.close();
});
