import type { EventLog } from "../../../domain/ports/event-log.ts";
import { eventStoreLog } from "../../../infra/eventstoredb/event-log.ts";
import { LIMITS, type Limits } from "../../../infra/eventstoredb/limits.ts";
import { type EventStoreDouble, startEventStoreDouble } from "../../support/eventstore-double/server.ts";

/** So short that a test which waits for a call to fail takes a second or two. */
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
  pollMs: 20,
  quietMs: 60,
};

/** As short where a test waits for it, and long where it waits for success: on a busy machine that takes seconds. */
export const PATIENT: Limits = {
  ...SHORT,
  appendMs: 20_000,
  readMs: 20_000,
  unreachableMs: 10_000,
  openMs: 10_000,
};

/** More than any call may take. */
export const HANG_MS = 30_000;

export type World = {
  readonly double: EventStoreDouble;
  readonly log: EventLog;
  /** Another node on the same log. */
  readonly open: (url?: string) => Promise<EventLog>;
};

/** A double and a log on it for one test, gone behind it. */
export const inWorld =
  (run: (world: World) => Promise<void>, limits: Limits = PATIENT): (() => Promise<void>) =>
  async () => {
    const double = await startEventStoreDouble();
    const logs: EventLog[] = [];
    const open = async (url = double.url): Promise<EventLog> => {
      const log = await eventStoreLog({ url, limits });
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
