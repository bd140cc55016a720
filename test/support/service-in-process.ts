import type { Clock } from "../../domain/ports/clock.ts";
import type { EventLog } from "../../domain/ports/event-log.ts";
import { systemClock } from "../../infra/clock.ts";
import { randomness } from "../../infra/crypto/randomness.ts";
import { memoryEventLog } from "../../infra/memory/event-log.ts";
import { memoryViewStore } from "../../infra/memory/view-store.ts";
import { PROJECTIONS } from "../../projections/all.ts";
import { readConfig } from "../../src/config.ts";
import { programLogger } from "../../src/http/program-logger.ts";
import { metrics } from "../../src/observability/metrics.ts";
import { service } from "../../src/service.ts";
import { inlineProjector } from "../../src/views/view-progress.ts";

export type ServiceInProcess = {
  /** Where it listens, on this machine. */
  readonly base: string;
  readonly log: EventLog;
  stop(): Promise<void>;
};

/**
 * The whole service in the test's own process, with engines in memory: it starts in milliseconds, and the test reads its
 * log. Two of them on one log are two nodes.
 */
export const serviceInProcess = async (
  env: Readonly<Record<string, string>> = {},
  { log = memoryEventLog(), clock = systemClock }: { readonly log?: EventLog; readonly clock?: Clock } = {},
): Promise<ServiceInProcess> => {
  const config = readConfig({
    HOST: "127.0.0.1",
    PORT: "0",
    LOG_LEVEL: "silent",
    DELIVERY_ALLOW_CIDRS: "127.0.0.0/8",
    ...env,
  });
  const views = memoryViewStore(PROJECTIONS.map(({ schema }) => schema));
  const projector = await inlineProjector({ log, views, projections: PROJECTIONS, clock });
  const running = await service({
    ...{ config, log, views, projector, randomness, clock, key: Buffer.alloc(32, 1) },
    // Where nodes share a log, each asks it what the others hold.
    locations: { log: { engine: "eventstoredb", url: "" }, views: { engine: "sqlite", path: "" } },
    ...{ feed: null, recent: null, exporter: null, meters: metrics(config), logger: programLogger(config) },
    appends: () => ({ count: 0, oldestS: 0 }),
    clockProblem: () => null,
  });
  const at = await running.start();
  return { base: `http://127.0.0.1:${at?.port}`, log, stop: () => running.stop(0) };
};
