import type { Worker } from "node:worker_threads";
import type { GroupedOutcome } from "../../domain/ports/event-log.ts";
import { LogUnavailable, OutcomeUnknown } from "../log-errors.ts";
import { OperationsEncoder, OutcomesDecoder } from "./event-log-messages.ts";
import {
  type FromWriter,
  type GroupAnswer,
  startThread,
  type ToWriter,
  type Weight,
  weightOf,
} from "./event-log-protocol.ts";
import type { OpenOptions } from "./event-log-schema.ts";
import type { EventText, Operation, Outcome } from "./event-log-writer.ts";

export type Appender = {
  submit(operation: Operation<EventText>): Promise<Outcome>;
  close(): Promise<void>;
};

/** More waiting appends mean overload: the caller answers 503 instead of letting memory grow. */
const PENDING_APPENDS_MAX = 10_000;
const PENDING_SIZE_MAX = 64 * 1024 * 1024;

type Pending = {
  readonly kind: Operation["kind"];
  readonly weight: Weight;
  readonly resolve: (outcome: Outcome) => void;
  readonly reject: (error: Error) => void;
};

/** Null if the writer did not answer all of the operation. */
const outcomeOf = ({ kind, weight }: Pending, outcomes: OutcomesDecoder): Outcome | null => {
  if (kind !== "group") {
    const outcome = outcomes.next();
    return outcome?.outcome === "refused" ? null : outcome;
  }
  const all: GroupedOutcome[] = [];
  for (let append = 0; append < weight.appends; append += 1) {
    const outcome = outcomes.next();
    if (outcome === null || outcome.outcome === "erased") return null;
    all.push(outcome);
  }
  return { outcome: "group", outcomes: all };
};

type Writer = { readonly worker: Worker; readonly opened: Promise<void> };

export type AppenderOptions = OpenOptions & {
  readonly onWriter?: (worker: Worker) => void;
  readonly onGroup?: ((operations: number) => void) | undefined;
};

export const openAppender = async ({ onWriter, onGroup, ...data }: AppenderOptions): Promise<Appender> => {
  const pending: Pending[] = [];
  const outbox = new OperationsEncoder();
  let pendingAppends = 0;
  let pendingSize = 0;
  let writer: Writer | null = null;
  let isClosed = false;
  let isDue = false;

  const settle = (count: number, settleOne: (pending: Pending) => void): void => {
    const settled = pending.splice(0, count);
    for (const { weight } of settled) {
      pendingAppends -= weight.appends;
      pendingSize -= weight.size;
    }
    if (pending.length === 0 && !isClosed) writer?.worker.unref();
    settled.forEach(settleOne);
  };

  const settleGroup = (count: number, group: GroupAnswer): void => {
    if (group.result === "committed") {
      const outcomes = new OutcomesDecoder(group.outcomes);
      onGroup?.(count);
      settle(count, (one) => {
        const outcome = outcomeOf(one, outcomes);
        if (outcome === null) one.reject(new OutcomeUnknown("the writer gave no answer"));
        else one.resolve(outcome);
      });
      return;
    }
    const Failure = group.result === "unavailable" ? LogUnavailable : OutcomeUnknown;
    settle(count, ({ reject }) => reject(new Failure(group.reason)));
  };

  const start = (): Writer => {
    const worker = startThread("event-log-worker", data);
    let failure = new Error("the event log's writer ended");
    let isOpen = false;
    const opened = new Promise<void>((resolve, reject) => {
      worker.on("message", (message: FromWriter) => {
        if (message.kind === "group") {
          settleGroup(message.count, message.group);
          flush();
          return;
        }
        isOpen = true;
        resolve();
      });
      worker.on("error", (error) => {
        failure = error instanceof Error ? error : new Error(String(error));
      });
      worker.on("exit", () => {
        writer = null;
        const Failure = isOpen ? OutcomeUnknown : LogUnavailable;
        settle(pending.length - outbox.count, ({ reject: fail }) => fail(new Failure(failure.message)));
        reject(failure);
        flush();
      });
    });
    opened.catch(() => undefined);
    onWriter?.(worker);
    return { worker, opened };
  };

  /** One message is under way at a time, so that operations submitted meanwhile share the next transaction and sync. */
  const flush = (): void => {
    isDue = false;
    const underWay = pending.length - outbox.count;
    if (outbox.count === 0 || (underWay > 0 && !isClosed)) return;
    writer ??= start();
    const message = { kind: "operations", ...outbox.take() } satisfies ToWriter;
    writer.worker.ref();
    writer.worker.postMessage(message, [message.texts]);
  };

  writer = start();
  await writer.opened;
  writer?.worker.unref();

  return {
    async submit(operation) {
      if (isClosed) throw new LogUnavailable("the event log is closed");
      const { appends, size } = weightOf(operation);
      if (pendingAppends + appends > PENDING_APPENDS_MAX || pendingSize + size > PENDING_SIZE_MAX)
        throw new LogUnavailable("too many appends are waiting");
      // From here on it takes as much memory as its encoded texts.
      const weight = { appends, size: outbox.add(operation) };
      pendingAppends += appends;
      pendingSize += weight.size;
      if (!isDue) {
        isDue = true;
        setImmediate(flush);
      }
      return new Promise((resolve, reject) => pending.push({ kind: operation.kind, weight, resolve, reject }));
    },

    async close() {
      isClosed = true;
      flush();
      if (writer === null) return;
      const { worker } = writer;
      const ended = new Promise((resolve) => worker.once("exit", resolve));
      worker.ref();
      const message: ToWriter = { kind: "close" };
      worker.postMessage(message);
      await ended;
    },
  };
};
