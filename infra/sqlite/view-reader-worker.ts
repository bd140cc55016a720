import { parentPort, workerData } from "node:worker_threads";
import { schemasByName } from "../view-schema.ts";
import { viewQueries } from "./view-queries.ts";
import type { Answer, FromReader, Question, ReaderWorkerData, ToReader } from "./view-reader-protocol.ts";
import { isEngineError, openViews } from "./view-tables.ts";

if (parentPort === null) throw new Error("the views' reader is a worker thread");
const port = parentPort;
// Only view-reader-thread.ts starts this thread.
const { path, schemas, isGivenUp } = workerData as ReaderWorkerData;
const byName = schemasByName(schemas);

// Reader and projector both create missing tables, so they may start in any order.
openViews(path, byName, false).close();
const database = openViews(path, byName, true);
const queries = viewQueries(database, byName);

const send = (message: FromReader): void => port.postMessage(message);

const answerTo = ({ method, args }: Question): Answer => {
  // `Question` pairs each method with its arguments, which the compiler forgets across the union.
  const query = queries[method] as (...args: Question["args"]) => Answer;
  return query(...args);
};

port.on("message", (message: ToReader) => {
  if (message.kind === "close" || Atomics.load(isGivenUp, 0) === 1) {
    if (database.isOpen) database.close();
    port.close();
    return;
  }
  const { number, question } = message;
  try {
    send({ kind: "answer", number, answer: answerTo(question) });
  } catch (error) {
    send({ kind: "failed", number, message: String(error), isEngine: isEngineError(error) });
  }
});

send({ kind: "opened" });
