import { mkdirSync, writeFileSync } from "node:fs";
import { systemClock } from "../../infra/clock.ts";
import { randomness } from "../../infra/crypto/randomness.ts";
import { memoryEventLog } from "../../infra/memory/event-log.ts";
import { memoryViewStore } from "../../infra/memory/view-store.ts";
import { PROJECTIONS } from "../../projections/all.ts";
import { readConfig } from "../../src/config.ts";
import { programLogger } from "../../src/http/program-logger.ts";
import { metrics } from "../../src/observability/metrics.ts";
import { apiModule } from "../../src/sdk-types/api-module.ts";
import { service } from "../../src/service.ts";
import { inlineProjector } from "../../src/views/view-progress.ts";

/** The OpenAPI document of this build, from a service in memory that listens on loopback for as long as it is asked. */
const openApiDocument = async (): Promise<unknown> => {
  const config = readConfig({ HOST: "127.0.0.1", PORT: "0", LOG_LEVEL: "silent", ROLES: "api" });
  const views = memoryViewStore(PROJECTIONS.map(({ schema }) => schema));
  const log = memoryEventLog();
  const projector = await inlineProjector({ log, views, projections: PROJECTIONS, clock: systemClock });
  const running = await service({
    ...{ config, log, views, projector, randomness, clock: systemClock, key: Buffer.alloc(32, 1) },
    locations: { log: { engine: "sqlite", path: "" }, views: { engine: "sqlite", path: "" } },
    ...{ feed: null, recent: null, exporter: null, meters: metrics(config), logger: programLogger(config) },
    appends: () => ({ count: 0, oldestS: 0 }),
    clockProblem: () => null,
  });
  const at = await running.start();
  try {
    return await (await fetch(`http://127.0.0.1:${at?.port}/openapi.json`)).json();
  } finally {
    await running.stop(0);
  }
};

const FOLDER = "build/page-types";
mkdirSync(FOLDER, { recursive: true });
writeFileSync(`${FOLDER}/api.ts`, apiModule(await openApiDocument()));
