import type { AddressInfo } from "node:net";
import type { FastifyInstance } from "fastify";
import type { EventLog } from "../domain/ports/event-log.ts";
import { subkey } from "../infra/crypto/subkey.ts";
import { events as eventsView } from "../projections/events.ts";
import { STATUS_PERIOD_MS } from "../projections/status.ts";
import { credentials, lapsedCredentials } from "./accounts/credentials.ts";
import { recordingKeyUses } from "./accounts/key-uses.ts";
import { linkUrl } from "./accounts/links.ts";
import { app } from "./app.ts";
import { approvalRenewal } from "./approvals/approval-renewal.ts";
import { manualPages } from "./billing/manual-pages.ts";
import { providerWebhooks } from "./billing/provider-webhooks.ts";
import { appliedChanges } from "./change-control/held-changes.ts";
import { feeding, feedPart, followerParts } from "./composition/followers.ts";
import { buildFoundation, type Foundation } from "./composition/foundation.ts";
import { buildMembers } from "./composition/members.ts";
import type { OpenedEngines } from "./composition/opened-engines.ts";
import { type Part, type Parts, parts, timer } from "./composition/part.ts";
import { buildRequests, type Requests } from "./composition/requests.ts";
import { buildRoutes, type RoutesDeps } from "./composition/routes.ts";
import { sealingParts } from "./composition/sealing-parts.ts";
import { witnessParts } from "./composition/witness-parts.ts";
import { CONNECTIONS_MAX } from "./http/limits.ts";
import { problemRecords } from "./http/problem-records.ts";
import { endpointsReading } from "./observability/endpoints-reading.ts";
import { partsReading } from "./observability/parts-reading.ts";
import { queueReading } from "./observability/queue-reading.ts";
import type { Readings } from "./observability/readings.ts";
import { statusLog } from "./observability/status-log.ts";
import { consolePage, readConsoleBundle } from "./routes/operations/console.ts";
import { metricsRoute } from "./routes/operations/metrics.ts";
import { type Component, statusNow } from "./routes/operations/status.ts";
import { ingest } from "./routes/sources/ingest.ts";

export type Service = {
  start(): Promise<AddressInfo | null>;
  /** A one-time link for the first account; null if there is an account or sign-up is open to everyone. */
  startLink(): Promise<string | null>;
  stop(graceMs: number): Promise<void>;
};

/** The first record of the service's status comes this late (ms), when each part has started. */
const STATUS_FIRST_MS = 10_000;
/** Milliseconds between two sweeps, which release the places that dead requests have reserved in ledgers. */
const SWEEP_MS = 60_000;
/** After another process's append the deliverer waits this long (ms), in which the views fold the append. */
const FOLDED_MS = 100;
const PROJECTED = eventsView.schema.name;
/** Repeats and refusals are counted in memory this long (ms) before the count is recorded. */
const COUNTS_MS = 1_000;

const engineParts = (foundation: Foundation): readonly Part[] => {
  const { log, projector, views, sender, config } = foundation;
  const readsLog = async (): Promise<boolean> => {
    await log.head();
    return true;
  };
  const readsViews = async (): Promise<boolean> => {
    await views.position(PROJECTED);
    return true;
  };
  return [
    { name: "log", role: null, stop: () => log.close(), health: { consequence: "unready", check: readsLog } },
    ...(foundation.isAlone
      ? []
      : [
          {
            name: "clock",
            role: null,
            health: { consequence: "unready", check: () => foundation.clockProblem() === null },
          } satisfies Part,
        ]),
    {
      name: "projector",
      role: null,
      stop: () => projector.stop(),
      // Without the role "projector", this part only watches the views that other processes fold.
      ...(config.roles.includes("projector")
        ? { health: { consequence: "unready", check: () => projector.healthy() } }
        : {}),
    },
    { name: "views", role: null, stop: () => views.close(), health: { consequence: "unready", check: readsViews } },
    { name: "sender", role: null, stop: (graceMs) => sender.close(graceMs) },
  ];
};

/** Parts for the work that requests leave behind: places to settle, counts to record, threads to stop. */
const requestParts = (
  { ledgers, counted, errorsOf, recordingCounts }: Foundation,
  requests: Requests,
): readonly Part[] => [
  { name: "ledgers", role: null, stop: () => ledgers.idle() },
  timer(
    { name: "sweep of places", role: null, ms: SWEEP_MS },
    (isStopping) => ledgers.sweep(isStopping),
    errorsOf("ledgers", "releasing places of requests that died"),
  ),
  { name: "counts", role: null, stop: () => counted.stop() },
  timer({ name: "recording of counts", role: null, ms: COUNTS_MS }, () => counted.flush(false), recordingCounts),
  {
    name: "threads",
    role: null,
    async stop() {
      for (const thread of requests.threads) await thread.stop();
    },
  },
];

const wakeAfterAppends = (log: EventLog, wake: () => void): Part => {
  let timeout: NodeJS.Timeout | null = null;
  let unsubscribe = (): void => undefined;
  return {
    name: "wake after appends",
    role: "deliverer",
    start() {
      unsubscribe = log.onAppended(() => {
        timeout ??= setTimeout(() => {
          timeout = null;
          wake();
        }, FOLDED_MS).unref();
      });
    },
    stop() {
      unsubscribe();
      if (timeout !== null) clearTimeout(timeout);
    },
  };
};

const componentsOf = (all: Parts): readonly Component[] =>
  Object.entries(all.checks("unready", "degraded")).map(([name, check]) => ({
    name,
    async check() {
      const isWell = await check().catch(() => false);
      return isWell ? "operational" : "down";
    },
  }));

const readingsOf = ({ projector, views, clock, appends }: Foundation, all: Parts): Readings => ({
  parts: partsReading(all.checks("unready", "degraded", "informational")),
  async projections() {
    // A dead projector's last progress would look like that of a healthy one that has caught up.
    if (!projector.healthy()) throw new Error("nobody folds");
    return projector.progress();
  },
  queue: queueReading(views, clock),
  endpoints: endpointsReading(views, clock),
  appends,
});

const httpOf = (
  foundation: Foundation,
  deps: Omit<RoutesDeps, "consoleBundle" | "authenticate">,
): Promise<FastifyInstance> => {
  const { config, clock, provider, publicUrl } = foundation;
  const consoleBundle = readConsoleBundle(config.signup);
  const authenticate = credentials(foundation);
  return app({
    ...foundation,
    routes: buildRoutes(foundation, { ...deps, consoleBundle, authenticate }),
    authenticate: recordingKeyUses(authenticate, {
      ...foundation,
      onError: foundation.errorsOf("accounts", "recording the use of a key"),
    }),
    digestKey: subkey(foundation.key, "idempotency"),
    othersAreGone: foundation.isAlone,
    config: { publicUrl, version: config.version, trustProxy: config.trustProxy },
    unknownPage: consolePage(consoleBundle),
    onAnswered: foundation.observer.answered,
    onProblem: problemRecords({
      calls: foundation.calls,
      lapsedOf: lapsedCredentials({ aggregates: foundation.aggregates, clock }),
      onError: foundation.recordingCounts,
    }),
    async register(scope) {
      await scope.register(
        ingest({ ...foundation, activeSource: deps.requests.activeSource, admit: deps.requests.admit }),
      );
      await scope.register(
        provider.name === "manual" ? manualPages(foundation) : providerWebhooks(provider, foundation),
      );
      await scope.register(
        metricsRoute({
          meters: foundation.meters,
          readings: readingsOf(foundation, deps.parts),
          token: config.metricsToken,
        }),
      );
    },
  });
};

/** With Node's own backlog of 511, a burst of connections during a long turn of the event loop is reset unanswered. */
const BACKLOG = CONNECTIONS_MAX;

/** Puts the service together; `composition/` gives each part what it needs. */
export const service = async (engines: OpenedEngines): Promise<Service> => {
  const { config, clock } = engines;
  const startedAt = clock.now();
  const foundation = await buildFoundation(engines);
  const requests = buildRequests(foundation);
  const members = buildMembers(foundation);
  const changes = appliedChanges(foundation);
  const renewal = approvalRenewal(foundation);
  const feed = feeding(foundation);
  const working = [
    ...engineParts(foundation),
    ...(feed === null || foundation.feed === null ? [] : [feedPart(feed, foundation.feed)]),
    ...sealingParts(foundation),
    ...witnessParts(foundation),
    ...requestParts(foundation, requests),
    ...followerParts(foundation, requests, { accounts: members.accounts, changes, renewal }),
    // Without the role "api" nothing hands admissions to this deliverer, so it looks after each append of others.
    ...(config.roles.includes("api") ? [] : [wakeAfterAppends(foundation.log, () => requests.deliver.wake())]),
  ];
  const components = componentsOf(parts(working, config.roles));
  const status = timer(
    { name: "status", role: "deliverer", ms: STATUS_PERIOD_MS, firstMs: STATUS_FIRST_MS },
    statusLog({ ...foundation, look: () => statusNow(components) }),
    foundation.errorsOf("status", "recording the status of the parts"),
  );
  const all = parts([...working, status], config.roles);
  const http = await httpOf(foundation, {
    requests,
    members,
    changes,
    renewal,
    feed,
    parts: all,
    components,
    startedAt,
  });
  /** Null unless the server listens. Only a server on a socket path has a string as its address. */
  const address = (): AddressInfo | null => http.server.address() as AddressInfo | null;

  return {
    async start() {
      // The server listens before the parts start, so that a port in use stops the start before anything is sent.
      if (config.roles.includes("api")) await http.listen({ host: config.host, port: config.port, backlog: BACKLOG });
      foundation.listensOn(address()?.port ?? config.port);
      all.start();
      return address();
    },
    async startLink() {
      if (config.signup === "open") return null;
      const token = await members.startLinks.make();
      return token === null ? null : linkUrl(foundation.publicUrl(), "start", token);
    },
    async stop(graceMs) {
      await http.close();
      await all.stop(graceMs);
    },
  };
};
