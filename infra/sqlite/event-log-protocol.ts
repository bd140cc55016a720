import { extname } from "node:path";
import { Worker } from "node:worker_threads";
import type { OpenOptions } from "./event-log-schema.ts";
import type { GroupResult, Operation } from "./event-log-writer.ts";

/** What the threads of the log say to each other. */

export type ToWriter =
  | { readonly kind: "operations"; readonly operations: readonly Operation[] }
  | { readonly kind: "close" };

export type FromWriter =
  | { readonly kind: "opened" }
  /** The oldest `count` operations that were not answered yet: they are done in the order in which they came. */
  | { readonly kind: "group"; readonly count: number; readonly group: GroupResult };

export type WriterData = OpenOptions;

export type ToCheckpointer = "copy" | "close";
/** Whether the copy was made; a failed one is tried again later. */
export type FromCheckpointer = { readonly copied: boolean };
export type CheckpointerData = { readonly path: string };

/** Where all connections of this process hear that something was appended. */
export const channelOf = (path: string): string => `event-log:${path}`;

/** The program of a thread, a neighbour of this file: compiled or not, it ends as this file does. */
export const threadUrl = (name: string): URL => new URL(`./${name}${extname(import.meta.url)}`, import.meta.url);

/** Messages come and go: the large young generation that `npm start` gives is meant for the thread that answers. */
export const YOUNG_MB = 16;

export const startThread = (name: string, data: WriterData | CheckpointerData): Worker =>
  new Worker(threadUrl(name), {
    name,
    workerData: data,
    // What the process was started with is not for its threads: some flags would keep them from starting.
    execArgv: [],
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
  });

/** The length of an operation's text, which is close to its bytes: what the limits and the checkpoints count. */
export const sizeOf = (operation: Operation): number =>
  operation.kind === "erase"
    ? operation.key.length
    : operation.events.reduce((size, event) => size + event.data.length + event.meta.length, operation.key.length);
