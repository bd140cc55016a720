import { parentPort, workerData } from "node:worker_threads";
import { schemasByName } from "../view-schema.ts";
import { viewQueries } from "./view-queries.ts";
import type { Answer, FromReader, Question, ReaderWorkerData, ToReader } from "./view-reader-protocol.ts";
import { isEngineError, openViews } from "./view-tables.ts";

/** The thread that answers queries, one after the other, over a connection that cannot write. */

if (parentPort === null) throw new Error("the views' reader is a worker thread");
const port = parentPort;
// workerData is untyped: this thread is started by view-reader-thread.ts alone.
const { path, schemas, isGivenUp } = workerData as ReaderWorkerData;
const byName = schemasByName(schemas);

// Whoever opens first makes the tables, so that reader and projector may start in any order.
openViews(path, byName, false).close();
const database = openViews(path, byName, true);
const queries = viewQueries(database, byName);

const say = (message: FromReader): void => port.postMessage(message);

const answerTo = ({ method, args }: Question): Answer => {
  // `Question` pairs each method with its own arguments; the compiler forgets that across the union.
  const query = queries[method] as (...args: Question["args"]) => Answer;
  return query(...args);
};

port.on("message", (message: ToReader) => {
  // What was asked before it was given up has been asked another thread.
  if (message.kind === "close" || Atomics.load(isGivenUp, 0) === 1) {
    if (database.isOpen) database.close();
    port.close();
    return;
  }
  const { number, question } = message;
  try {
    say({ kind: "answer", number, answer: answerTo(question) });
  } catch (error) {
    say({ kind: "failed", number, message: String(error), isEngine: isEngineError(error) });
  }
});

say({ kind: "opened" });
