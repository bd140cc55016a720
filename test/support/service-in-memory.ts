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
import type { Client } from "./client.ts";
import { until } from "./program.ts";

export type AuditRecord = {
  readonly type: string;
  readonly stream: string;
  readonly revision: number;
  readonly subject: string;
  readonly actor: { readonly kind: string; readonly id: string };
  // biome-ignore lint/suspicious/noExplicitAny: a record's data are what its type says; a wrong guess fails the test
  readonly data: any;
  readonly personal: Readonly<Record<string, unknown>>;
};

/** The whole service in this process, with a log and views in memory. */
export const startService = async (env: Record<string, string> = {}) => {
  const config = readConfig({
    ...{ HOST: "127.0.0.1", PORT: "0", ROLES: "api,deliverer", LOG_LEVEL: "error" },
    ...{ DELIVERY_ALLOW_CIDRS: "127.0.0.0/8", SIGNUP: "open", ...env },
  });
  const lines: string[] = [];
  const log = memoryEventLog();
  const views = memoryViewStore(PROJECTIONS.map(({ schema }) => schema));
  const projector = await inlineProjector({ log, views, projections: PROJECTIONS, clock: systemClock });
  const it = await service({
    ...{ config, log, views, projector, randomness, clock: systemClock, key: Buffer.alloc(32, 1) },
    locations: { log: { engine: "sqlite", path: "" }, views: { engine: "sqlite", path: "" } },
    ...{ feed: null, recent: null, exporter: null, meters: metrics(config) },
    logger: programLogger(config, { write: (line: string) => void lines.push(line) }),
    appends: () => ({ count: 0, oldestS: 0 }),
    clockProblem: () => null,
  });
  const at = await it.start();
  return {
    log,
    url: `http://127.0.0.1:${at?.port}`,
    /** What was logged at the level error. */
    lines,
    stop: () => it.stop(0),
  };
};

/**
 * The first record that is found in the log, also one that is counted first and written a moment later; as the owner finds
 * it in the audit.
 */
export const recordOf = async (
  { log }: { readonly log: EventLog },
  client: Client,
  what: string,
  is: (record: Pick<AuditRecord, "type" | "stream" | "data">) => boolean,
): Promise<AuditRecord> => {
  const { stream, revision } = await until(`${what} is recorded`, async () => {
    const all = await log.readAll(null, 10_000, "records");
    return all.find((record) => record.meta.account === client.account && is(record)) ?? null;
  });
  return until(`${what} is found in the audit`, async () => {
    const { body } = await client.session("GET", `/v1/audit?limit=100&stream=${stream}`);
    const found: readonly AuditRecord[] = body.data;
    return found.find((record) => record.revision === revision) ?? null;
  });
};
