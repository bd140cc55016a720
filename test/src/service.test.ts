import { suite } from "uvu";
import * as assert from "uvu/assert";
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

const test = suite("the service");

test("a node whose clock is not that of the log's server is not ready until it is", async () => {
  const config = readConfig({ HOST: "127.0.0.1", PORT: "0", ROLES: "api", LOG_LEVEL: "silent" });
  const log = memoryEventLog();
  const views = memoryViewStore(PROJECTIONS.map(({ schema }) => schema));
  const projector = await inlineProjector({ log, views, projections: PROJECTIONS, clock: systemClock });
  let problem: string | null = "this machine's clock is ahead";
  const it = await service({
    ...{ config, log, views, projector, randomness, clock: systemClock, key: Buffer.alloc(32, 1) },
    locations: { log: { engine: "eventstoredb", url: "" }, views: { engine: "sqlite", path: "" } },
    ...{ feed: null, recent: null, exporter: null, meters: metrics(config), logger: programLogger(config) },
    appends: () => ({ count: 0, oldestS: 0 }),
    clockProblem: () => problem,
  });
  const at = await it.start();
  const ready = async () => {
    const answer = await fetch(`http://127.0.0.1:${at?.port}/ready`);
    const { checks } = (await answer.json()) as { readonly checks: Readonly<Record<string, string>> };
    return [answer.status, checks.clock];
  };
  assert.equal(await ready(), [503, "failing"]);
  problem = null;
  assert.equal(await ready(), [200, "ok"]);
  await it.stop(0);
});

test.run();
