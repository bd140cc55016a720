import type { AddressInfo } from "node:net";
import type { FastifyInstance } from "fastify";
import type { EventLog } from "../domain/ports/event-log.ts";
import { subkey } from "../infra/crypto/subkey.ts";
import { events as eventsView } from "../projections/events.ts";
import { STATUS_PERIOD_MS } from "../projections/status.ts";
import { credentials, lapsedCredentials } from "./accounts/credentials.ts";
import { linkUrl } from "./accounts/links.ts";
import { app } from "./app.ts";
import { approvalRenewal } from "./approvals/approval-renewal.ts";
import { manualPages } from "./billing/manual-pages.ts";
import { providerWebhooks } from "./billing/provider-webhooks.ts";
import { appliedChanges } from "./change-control/held-changes.ts";
import type { Engines } from "./composition/engines.ts";
import { feeding, feedPart, followers } from "./composition/followers.ts";
import { type Foundation, foundation } from "./composition/foundation.ts";
import { members } from "./composition/members.ts";
import { type Part, type Parts, parts, timer } from "./composition/part.ts";
import { type Requests, requests } from "./composition/requests.ts";
import { type RoutesDeps, routes } from "./composition/routes.ts";
import { problemRecords } from "./http/problem-records.ts";
import { endpointsReading } from "./observing/endpoints-reading.ts";
import { partsReading } from "./observing/parts-reading.ts";
import { queueReading } from "./observing/queue-reading.ts";
import type { Readings } from "./observing/readings.ts";
import { statusLog } from "./observing/status-log.ts";
import { metricsRoute } from "./routes/operations/metrics.ts";
import { type Component, statusNow } from "./routes/operations/status.ts";
import { ingest } from "./routes/sources/ingest.ts";

export type Service = {
  /** Listens, then starts the parts. Null if its roles do not listen. */
  start(): Promise<AddressInfo | null>;
  /** The address of a new one-time link for the first account; null if there is an account or sign-up is open. */
  startLink(): Promise<string | null>;
  /** Stops accepting, finishes what is in flight within `graceMs`, and closes in reverse order. */
  stop(graceMs: number): Promise<void>;
};

/** Each part has started by then. */
const STATUS_FIRST_MS = 10_000;
/** Between two sweeps of places that dead requests have reserved. */
const SWEEP_MS = 60_000;
/** From another process's append to the look for what it admitted: the views are folded meanwhile. */
const FOLDED_MS = 100;
/** Any view serves to check that the store answers. */
const PROJECTED = eventsView.schema.name;
/** How long repeats of a delivery are counted in memory before the count is recorded. */
const COUNTS_MS = 1_000;

/** The engines. They are opened before the parts are made, so nothing starts them. */
const engineParts = (it: Foundation): readonly Part[] => {
  const { log, projector, views, sender, config } = it;
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
    ...(it.isAlone
      ? []
      : [
          {
            name: "clock",
            role: null,
            health: { consequence: "unready", check: () => it.clockProblem() === null },
          } satisfies Part,
        ]),
    {
      name: "projector",
      role: null,
      stop: () => projector.stop(),
      // In other processes it only watches the views that a projector writes.
      ...(config.roles.includes("projector")
        ? { health: { consequence: "unready", check: () => projector.healthy() } }
        : {}),
    },
    { name: "views", role: null, stop: () => views.close(), health: { consequence: "unready", check: readsViews } },
    { name: "sender", role: null, stop: (graceMs) => sender.close(graceMs) },
  ];
};

/** Work that requests leave behind: places to settle, counts to record, orders of the threads. */
const requestParts = ({ ledgers, counted, errorsOf, recordingCounts }: Foundation, at: Requests): readonly Part[] => [
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
      for (const thread of at.threads) await thread.stop();
    },
  },
];

/** Calls `wake` once for all appends of `FOLDED_MS`. */
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
    // A dead projector's last progress would look like a healthy one that has caught up.
    if (!projector.healthy()) throw new Error("nobody folds");
    return projector.progress();
  },
  queue: queueReading(views, clock),
  endpoints: endpointsReading(views, clock),
  appends,
});

/** The HTTP interface, which does not listen yet. */
const httpOf = (it: Foundation, deps: RoutesDeps): Promise<FastifyInstance> => {
  const { config, clock, provider, publicUrl } = it;
  return app({
    ...it,
    routes: routes(it, deps),
    authenticate: credentials(it),
    digestKey: subkey(it.key, "idempotency"),
    othersAreGone: it.isAlone,
    config: { publicUrl, version: config.version, trustProxy: config.trustProxy },
    onAnswered: it.observer.answered,
    onProblem: problemRecords({
      calls: it.calls,
      lapsedOf: lapsedCredentials({ aggregates: it.aggregates, clock }),
      onError: it.recordingCounts,
    }),
    async register(scope) {
      await scope.register(ingest({ ...it, activeSource: deps.requests.activeSource, admit: deps.requests.admit }));
      await scope.register(provider.name === "manual" ? manualPages(it) : providerWebhooks(provider, it));
      await scope.register(
        metricsRoute({ meters: it.meters, readings: readingsOf(it, deps.parts), token: config.metricsToken }),
      );
    },
  });
};

/** The program without its engines: read it from top to bottom. `composition/` gives each part what it needs. */
export const service = async (engines: Engines): Promise<Service> => {
  const { config, clock } = engines;
  const startedAt = clock.now();
  const it = await foundation(engines);
  const at = requests(it);
  const people = members(it);
  const changes = appliedChanges(it);
  const renewal = approvalRenewal(it);
  const feed = feeding(it);
  const working = [
    ...engineParts(it),
    ...(feed === null || it.feed === null ? [] : [feedPart(feed, it.feed)]),
    ...requestParts(it, at),
    ...followers(it, at, { accounts: people.accounts, changes, renewal }),
    // Its own admissions are handed to the deliverer; those of other processes are only heard of.
    ...(config.roles.includes("api") ? [] : [wakeAfterAppends(it.log, () => at.deliver.wake())]),
  ];
  const components = componentsOf(parts(working, config.roles));
  const status = timer(
    { name: "status", role: "deliverer", ms: STATUS_PERIOD_MS, firstMs: STATUS_FIRST_MS },
    statusLog({ ...it, look: () => statusNow(components) }),
    it.errorsOf("status", "recording the status of the parts"),
  );
  const all = parts([...working, status], config.roles);
  const http = await httpOf(it, {
    requests: at,
    members: people,
    changes,
    renewal,
    feed,
    parts: all,
    components,
    startedAt,
  });
  /** Null: it does not listen. Only a server on a socket path has a string as its address. */
  const address = (): AddressInfo | null => http.server.address() as AddressInfo | null;

  return {
    async start() {
      // First, so that a taken port stops the start before anything is sent.
      if (config.roles.includes("api")) await http.listen({ host: config.host, port: config.port });
      it.listensOn(address()?.port ?? config.port);
      all.start();
      return address();
    },
    async startLink() {
      if (config.signup === "open") return null;
      const token = await people.startLinks.make();
      return token === null ? null : linkUrl(it.publicUrl(), "start", token);
    },
    async stop(graceMs) {
      await http.close();
      await all.stop(graceMs);
    },
  };
};
