import { statSync } from "node:fs";
import { BroadcastChannel, parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { checkpoints } from "./event-log-checkpoints.ts";
import { decodeOperations, encodeOutcomes } from "./event-log-messages.ts";
import { channelOf, type FromWriter, type ToWriter, weightOf } from "./event-log-protocol.ts";
import { type OpenOptions, openWriting } from "./event-log-schema.ts";
import { eventLogWriter, type Operation } from "./event-log-writer.ts";

/** A group is one transaction with one sync, and so small that no caller waits long for the others' inserts. */
const GROUP_APPENDS_MAX = 512;
const GROUP_SIZE_MAX = 8 * 1024 * 1024;

if (parentPort === null) throw new Error("the event log's writer is a worker thread");
const port = parentPort;
// Only event-log-appender.ts starts this thread.
const options = workerData as OpenOptions;

// A WAL found at the start was left by a process that died, perhaps right after an erasure, so it is cut.
const hasWal = (statSync(`${options.path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
const db = openWriting(options);
const writer = eventLogWriter(db);
const wal = checkpoints(db, options.path);
if (hasWal) wal.cutSoon();
const channel = new BroadcastChannel(channelOf(options.path));
const backlog: Operation[] = [];
let isClosing = false;

/** Followers wait longer than this before they read, so a message for each commit would wake them in vain. */
const SIGNAL_MS = 5;
let signalling: NodeJS.Timeout | null = null;

const signalSoon = (): void => {
  signalling ??= setTimeout(() => {
    signalling = null;
    channel.postMessage(null);
  }, SIGNAL_MS);
};

const send = (message: FromWriter): void => port.postMessage(message);

const take = (message: ToWriter): void => {
  if (message.kind === "close") isClosing = true;
  else backlog.push(...decodeOperations(message));
};

const nextGroup = (): Operation[] => {
  for (let next = receiveMessageOnPort(port); next !== undefined; next = receiveMessageOnPort(port)) take(next.message);
  let appends = 0;
  let size = 0;
  const tooMuch = backlog.findIndex((operation, index) => {
    const weight = weightOf(operation);
    appends += weight.appends;
    size += weight.size;
    return index > 0 && (appends > GROUP_APPENDS_MAX || size > GROUP_SIZE_MAX);
  });
  return backlog.splice(0, tooMuch === -1 ? backlog.length : tooMuch);
};

const close = async (): Promise<void> => {
  await wal.close();
  if (signalling !== null) {
    clearTimeout(signalling);
    channel.postMessage(null);
  }
  channel.close();
  db.close();
  port.close();
};

const run = (): void => {
  const group = nextGroup();
  if (group.length > 0) {
    const result = writer.commit(group);
    const isCommitted = result.result === "committed";
    const answer = isCommitted ? { ...result, outcomes: encodeOutcomes(result.outcomes) } : result;
    send({ kind: "group", count: group.length, group: answer });
    if (isCommitted) signalSoon();
    wal.written(group, isCommitted ? result.indexed : 0);
  }
  // `setImmediate` gives messages of the checkpointer a turn between two groups.
  if (backlog.length > 0) setImmediate(run);
  else if (isClosing) void close();
};

port.on("message", (message: ToWriter) => {
  const isDue = backlog.length > 0;
  take(message);
  if (!isDue) run();
});

send({ kind: "opened" });
