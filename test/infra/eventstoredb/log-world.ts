import type { EventLog } from "../../../domain/ports.ts";
import { eventStoreLog } from "../../../infra/eventstoredb/event-log.ts";
import { LIMITS, type Limits } from "../../../infra/eventstoredb/limits.ts";
import {
  type EventStoreDouble,
  type EventStoreDoubleOptions,
  startEventStoreDouble,
} from "../../support/eventstore-double/server.ts";

/** So short that a test which waits for each of them takes a second or two. */
export const SHORT: Limits = {
  ...LIMITS,
  appendTryMs: 200,
  appendMs: 1_500,
  visibleMs: 600,
  readIdleMs: 200,
  readMs: 1_500,
  unreachableMs: 500,
  openMs: 1_500,
  closeMs: 1_000,
  watchMs: 200,
  reopenMs: 10,
  reopenMaxMs: 100,
};

/** What a call may take that fails: its limit, and what a busy machine adds. */
export const HANG_MS = 4 * SHORT.appendMs;

export type World = {
  readonly double: EventStoreDouble;
  readonly log: EventLog;
  /** Another node on the same log. */
  readonly open: (url?: string) => Promise<EventLog>;
};

/** A double and a log on it for one test, gone behind it. */
export const inWorld =
  (run: (world: World) => Promise<void>, options: EventStoreDoubleOptions = {}): (() => Promise<void>) =>
  async () => {
    const double = await startEventStoreDouble(options);
    const logs: EventLog[] = [];
    const open = async (url = double.url): Promise<EventLog> => {
      const log = await eventStoreLog({ url, limits: SHORT });
      logs.push(log);
      return log;
    };
    try {
      await run({ double, log: await open(), open });
    } finally {
      double.behave();
      await Promise.all(logs.map((log) => log.close()));
      await double.stop();
    }
  };
