import { extname } from "node:path";
import { Worker } from "node:worker_threads";
import type { OperationsMessage } from "./event-log-messages.ts";
import type { OpenOptions } from "./event-log-schema.ts";
import type { GroupResult, Operation } from "./event-log-writer.ts";

export type ToWriter = ({ readonly kind: "operations" } & OperationsMessage) | { readonly kind: "close" };

export type FromWriter =
  | { readonly kind: "opened" }
  /** The answer is for the oldest `count` unanswered operations. */
  | { readonly kind: "group"; readonly count: number; readonly group: GroupAnswer };

/** `outcomes` as `encodeOutcomes` makes them. */
export type GroupAnswer =
  | { readonly result: "committed"; readonly outcomes: Float64Array }
  | Exclude<GroupResult, { readonly result: "committed" }>;

export type ToCheckpointer = "copy" | "close";
export type FromCheckpointer = { readonly copied: boolean };
export type CheckpointerData = { readonly path: string };

export const channelOf = (path: string): string => `event-log:${path}`;

/** The threads' programs are .ts as this file is, or .js once compiled. */
export const threadUrl = (name: string): URL => new URL(`./${name}${extname(import.meta.url)}`, import.meta.url);

/** In MiB. A flag `--max-semi-space-size` of the process would override it. */
export const YOUNG_MB = 16;

export const startThread = (name: string, data: OpenOptions | CheckpointerData): Worker =>
  new Worker(threadUrl(name), {
    name,
    workerData: data,
    // A thread gets no flags, because some of the process's flags would keep it from starting.
    execArgv: [],
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
  });

/** An operation as the limits count it: a group has several appends. `size` is in UTF-16 units, and in the writer's thread in bytes. */
export type Weight = { readonly appends: number; readonly size: number };

export const weightOf = (operation: Operation): Weight => {
  const parts = operation.kind === "group" ? operation.appends : [operation];
  let size = 0;
  for (const part of parts) {
    size += part.key.length;
    if (part.kind === "append") for (const { data, meta } of part.events) size += data.length + meta.length;
  }
  return { appends: parts.length, size };
};
