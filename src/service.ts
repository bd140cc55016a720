import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { FastifyBaseLogger } from "fastify";
import { bundle } from "../domain/bundle/decider.ts";
import { delivery } from "../domain/delivery/decider.ts";
import type { Clock, EventLog, Feed, Position, Randomness, SpanExporter, ViewStore } from "../domain/ports.ts";
import { manualBilling } from "../infra/billing/manual/links.ts";
import { headerDigests } from "../infra/crypto/header-digest.ts";
import { randomId } from "../infra/crypto/ids.ts";
import { passwords } from "../infra/crypto/passwords.ts";
import { secretBox } from "../infra/crypto/secret-box.ts";
import { subkey } from "../infra/crypto/subkey.ts";
import { dnsResolver } from "../infra/dns/resolver.ts";
import { addressRules } from "../infra/http/addresses.ts";
import { systemResolver } from "../infra/http/resolve.ts";
import { httpSender } from "../infra/http/sender.ts";
import { events as eventsView } from "../projections/events.ts";
import { SLOT_MS } from "../projections/status.ts";
import { accountReactions } from "./accounts/account-reactions.ts";
import { accountTerms } from "./accounts/account-terms.ts";
import { accounts } from "./accounts/accounts.ts";
import { credentialHashes } from "./accounts/credential-hashes.ts";
import { credentials, lapsedCredentials } from "./accounts/credentials.ts";
import { links, linkUrl } from "./accounts/links.ts";
import { memberLinks } from "./accounts/member-links.ts";
import { sessionRoom } from "./accounts/session-room.ts";
import { sessions } from "./accounts/sessions.ts";
import { startLinks } from "./accounts/start-links.ts";
import { accepting } from "./admission/accepting.ts";
import { admission } from "./admission/admission.ts";
import { counts } from "./admission/counts.ts";
import { definitions, definitionThread } from "./admission/definitions.ts";
import { app } from "./app.ts";
import { approvalExpiry } from "./approvals/approval-expiry.ts";
import { approvalReactions } from "./approvals/approval-reactions.ts";
import { approvalReleases } from "./approvals/approval-releases.ts";
import { approvalRequests } from "./approvals/approval-requests.ts";
import { changedTargets } from "./approvals/changed-targets.ts";
import { holdingAgain } from "./approvals/holding-again.ts";
import { manualPages } from "./billing/manual-pages.ts";
import { overageLoop } from "./billing/overage.ts";
import { providerWebhooks } from "./billing/provider-webhooks.ts";
import { bundling } from "./bundles/claiming.ts";
import { BUNDLE_REACTOR, bundleReactions, stoppedBundles } from "./bundles/reactions.ts";
import { bundleRunner, startingAtOnce } from "./bundles/running.ts";
import { stepGates } from "./bundles/step-gates.ts";
import { callRecords } from "./calls/call-records.ts";
import { countedCalls } from "./calls/counted-calls.ts";
import { tallies } from "./calls/tallies.ts";
import type { Config } from "./config.ts";
import { appliedChanges, changeReactions } from "./controls/changes.ts";
import { controls } from "./controls/controls.ts";
import { references } from "./controls/references.ts";
import { deliverer } from "./delivery/deliverer.ts";
import { endpointReactions } from "./delivery/endpoint-reactions.ts";
import { outbound } from "./delivery/outbound.ts";
import { documentThread, sharedDocuments } from "./documents/documents.ts";
import { openStripe, type Places } from "./engine/engines.ts";
import { erasureReactions } from "./erasure/erasures.ts";
import { personalData, personalDataReactions } from "./erasure/personal-data.ts";
import { executing } from "./execute/executing.ts";
import { outcomes } from "./execute/outcomes.ts";
import { costReactions, SUSPENSIONS_REACTOR, stoppedRequests } from "./execute/reactions.ts";
import { waitingPlaces } from "./execute/waiting-places.ts";
import { feedLoop } from "./feed/feed.ts";
import { reactor } from "./following/reactor.ts";
import { waitLines } from "./following/waits.ts";
import { checkThread } from "./gates/check-thread.ts";
import { DIRECT_WORK_MAX, sharedChecks } from "./gates/checks.ts";
import { compilePace } from "./gates/compile-cache.ts";
import { actionCompiler, compiledActions } from "./gates/compiled-action.ts";
import { compiledPolicies, policyCompiler } from "./gates/compiled-policy.ts";
import { definitionRate } from "./gates/definition-rate.ts";
import type { LineStream } from "./http/buffered-lines.ts";
import { loggerOptions } from "./http/log-lines.ts";
import { passwordGuesses } from "./http/password-guesses.ts";
import { positionText } from "./http/position-text.ts";
import { problemRecords } from "./http/problem-records.ts";
import { attempts } from "./http/rate-limit.ts";
import { openedSecrets } from "./keys/opened-secrets.ts";
import { byteAllowances } from "./ledgers/byte-allowances.ts";
import { fate } from "./ledgers/fate.ts";
import { heldReactions } from "./ledgers/held-places.ts";
import { ORPHAN_AGE_MS } from "./ledgers/ledger-stream.ts";
import { ledgers } from "./ledgers/ledgers.ts";
import { slotReactions, slots } from "./ledgers/slots.ts";
import { notificationReactions } from "./notifications/reactions.ts";
import { endpointsReading } from "./observing/endpoints-reading.ts";
import { decisionLines, errorLines, observers } from "./observing/log-lines.ts";
import type { Metrics } from "./observing/metrics.ts";
import { partsReading } from "./observing/parts-reading.ts";
import { queueReading } from "./observing/queue-reading.ts";
import type { Readings } from "./observing/readings.ts";
import { statusLog } from "./observing/status-log.ts";
import { providerCatalogue } from "./providers/catalogue.ts";
import { replayReactions } from "./replays/reactions.ts";
import { replaying } from "./replays/replaying.ts";
import { replaysLoop } from "./replays/running.ts";
import { startingReplays } from "./replays/starting.ts";
import { expiredAnswers } from "./retention/expired-answers.ts";
import { orphanedPayloads } from "./retention/orphaned-payloads.ts";
import { orphanedPersonalData } from "./retention/orphaned-personal-data.ts";
import { retention } from "./retention/retention.ts";
import { apiKeyRoutes } from "./routes/accounts/api-keys.ts";
import { authRoutes } from "./routes/accounts/auth.ts";
import { capabilityRoutes } from "./routes/accounts/capabilities.ts";
import { linkRoutes } from "./routes/accounts/links.ts";
import { memberRoutes } from "./routes/accounts/members.ts";
import { sessionRoutes } from "./routes/accounts/sessions.ts";
import { actionRoutes } from "./routes/agents/actions.ts";
import { agentRoutes } from "./routes/agents/agents.ts";
import { executeRoutes } from "./routes/agents/execute.ts";
import { approvalRoutes } from "./routes/approvals/approvals.ts";
import { auditRoutes } from "./routes/audit/audit.ts";
import { auditStreamRoutes } from "./routes/audit/audit-stream.ts";
import { billingRoutes } from "./routes/billing/billing.ts";
import { checkoutRoutes } from "./routes/billing/checkout.ts";
import { bundleRoutes } from "./routes/bundles/bundles.ts";
import { endpointRoutes } from "./routes/endpoints/endpoints.ts";
import { eventTraceRoutes } from "./routes/events/event-trace.ts";
import { eventRoutes } from "./routes/events/events.ts";
import { rejectionRoutes } from "./routes/events/rejections.ts";
import { metricsRoute } from "./routes/operations/metrics.ts";
import { operationsRoutes } from "./routes/operations/operations.ts";
import { statusNow, statusRoutes } from "./routes/operations/status.ts";
import { policyRoutes } from "./routes/policies/policies.ts";
import { policyLedgerRoutes } from "./routes/policies/policy-ledger.ts";
import { replayRoutes } from "./routes/replays/replays.ts";
import { ingest } from "./routes/sources/ingest.ts";
import { sourceRoutes } from "./routes/sources/sources.ts";
import { aggregates } from "./streams/aggregates.ts";
import { damageRecords } from "./streams/payload-damage.ts";
import { PAYLOAD_BYTES_MAX, payloads } from "./streams/payloads.ts";
import { TRACES_AT_ONCE, TRACES_GATHER_MS, traceReactions } from "./traces/exporting.ts";
import type { ViewProgress } from "./views/view-progress.ts";

/** The engines, opened, and what they run with. */
export type Engines = {
  readonly config: Config;
  readonly places: Places;
  /** The data key (`key-ring.ts`): 32 bytes. */
  readonly key: Uint8Array;
  readonly log: EventLog;
  readonly views: ViewStore;
  readonly projector: ViewProgress;
  /** Null: this process feeds nobody. */
  readonly feed: Feed | null;
  /** Null: traces are sent nowhere. */
  readonly exporter: SpanExporter | null;
  readonly meters: Metrics;
  /** Where log lines go. */
  readonly lines: LineStream;
  /** Why nothing is written at the moment: this machine's clock is not that of the log's server. Null while they agree. */
  readonly clockProblem: () => string | null;
  /** Of the log: which appends have no answer yet. */
  readonly appends: Readings["appends"];
  readonly clock: Clock;
  readonly randomness: Randomness;
};

export type Service = {
  readonly logger: FastifyBaseLogger;
  /** Listens, then begins to deliver; null when its roles do not listen. */
  start(): Promise<AddressInfo | null>;
  /** Where sign-up is closed and there is no account: the address of a new one-time link to make the first one. Else null. */
  startLink(): Promise<string | null>;
  /** Stops accepting, finishes what is in flight within `graceMs`, and closes in reverse order. */
  stop(graceMs: number): Promise<void>;
};

/** By then each part has had the time to begin. */
const STATUS_FIRST_MS = 10_000;
/** Requests that died have reserved places: looked for this often. */
const SWEEP_MS = 60_000;
/** From what happened to those who are told of it. */
const NOTIFY_MS = 250;
/** From another process's append to the look for what it admitted: the views are folded meanwhile. */
const FOLDED_MS = 100;
/** A page takes less, unless the broker hangs: then it is published again by whoever feeds next. */
const FEED_STOP_MS = 2_000;
/** Any view: whether the store answers. */
const PROJECTED = eventsView.schema.name;
/** How long repeats of a delivery are counted before the count is written down. */
const COUNTS_MS = 1_000;

/** Calls `wake` some time after appends, once for all of that time. Returns how to stop. */
const whenAppended = (log: EventLog, afterMs: number, wake: () => void): (() => void) => {
  let timer: NodeJS.Timeout | null = null;
  const stop = log.onAppended(() => {
    timer ??= setTimeout(() => {
      timer = null;
      wake();
    }, afterMs).unref();
  });
  return () => {
    stop();
    if (timer !== null) clearTimeout(timer);
  };
};

/** Every port gets its adapter here, and every part what it needs: read it from top to bottom. */
export const service = async (engines: Engines): Promise<Service> => {
  const { config, places, key, log, views, projector, feed, exporter, meters, lines, appends, clock, randomness } =
    engines;
  // One process an embedded role (`main.ts`): whatever an earlier one held when it ended is nobody's. The nodes of a
  // shared log know of each other only what is in it.
  const isAlone = places.log.engine === "sqlite";
  const has = (role: Config["roles"][number]): boolean => config.roles.includes(role);
  const node = randomId("node_", randomness);
  const startedAt = clock.now();
  let port = config.port;
  const publicUrl = (): string => config.publicUrl ?? `http://localhost:${port}`;

  const streams = aggregates(log, clock);
  const positions = positionText(await log.identity());
  const shownAt = <T extends { readonly position: Position | null }>(it: T): T => ({
    ...it,
    position: it.position === null ? null : positions.of(it.position),
  });
  const box = secretBox(subkey(key, "secret-box"), randomness);
  const opened = openedSecrets(box);
  const hashes = credentialHashes(key);
  const { accountOf, planOf, timeZoneOf, subscriptionOf, retentionOf } = accountTerms(streams, clock);
  const provider =
    config.stripe === null
      ? manualBilling({ box, clock, randomness, publicUrl })
      : await openStripe(config.stripe, publicUrl);

  const errorsOf = errorLines(() => http.log);
  const waitsOf = (part: string) => waitLines(() => http.log, part);
  const observer = observers(
    meters,
    decisionLines(() => http.log),
  );
  const kept = payloads(log, randomness, damageRecords(log, clock, errorsOf("payloads", "checking a stored payload")));
  const personal = personalData(log, randomness);
  const reservations = ledgers({
    log,
    clock,
    randomness,
    fate: fate(log, clock, randomness),
    orphanAgeMs: isAlone ? 0 : ORPHAN_AGE_MS,
    onBatch: observer.reserved,
    onError: errorsOf("ledgers", "settling or releasing places"),
  });
  const registering = slots({ ledgers: reservations, aggregates: streams, planOf });
  const allowances = byteAllowances({
    ...{ ledgers: reservations, clock, randomness, accountOf },
    onError: errorsOf("allowances", "taking a lease of bytes"),
  });
  const recordingCounts = errorsOf("counts", "recording refusals and repeats");
  const counted = tallies(log, clock, randomness, recordingCounts);
  const calls = countedCalls(counted, observer.refused);
  const recordCall = callRecords(log, personal);
  const largeDefinitions = definitionThread();
  const validating = definitions(largeDefinitions, { policy: policyCompiler(), action: actionCompiler() });
  const publishingRate = definitionRate(clock);
  const resolve =
    config.deliveryDns === "system"
      ? systemResolver(undefined, config.threadPoolSize)
      : dnsResolver(config.deliveryDnsServers.length === 0 ? {} : { servers: config.deliveryDnsServers });
  const addresses = addressRules(config.deliveryAllowCidrs, resolve);
  const sender = httpSender({ addresses, resolve, clock });
  const waiters = waitingPlaces();
  const readingOutcomes = errorsOf("outcomes", "reading what a caller waits for");
  const waiting = outcomes(log, delivery, "delivery", readingOutcomes, waiters);
  const bundlesWaiting = outcomes(log, bundle, "bundle", readingOutcomes, waiters);
  const headers = outbound(opened, config.version);
  const delivering = deliverer({
    log,
    views,
    aggregates: streams,
    clock,
    randomness,
    payloads: kept,
    allowances,
    sender,
    outbound: headers,
    node,
    othersAreGone: isAlone,
    onChanged(eventId, known) {
      waiting.changed(eventId, known);
      running.delivered(eventId, known);
    },
    onAttempt: observer.attempted,
    onError: errorsOf("deliverer", "delivering events"),
  });
  const compilingAtAdmission = compilePace(clock);
  const policies = compiledPolicies(policyCompiler(DIRECT_WORK_MAX), compilingAtAdmission);
  const actions = compiledActions(actionCompiler(DIRECT_WORK_MAX), compilingAtAdmission);
  const expensiveChecks = checkThread();
  const gateChecks = sharedChecks(expensiveChecks, clock);
  const largeDocuments = documentThread();
  const documents = sharedDocuments(largeDocuments, clock);
  // Apart from what is shown, so that reads delay no webhook.
  const largeArrivals = documentThread("arrivals");
  const arrived = sharedDocuments(largeArrivals, clock);
  const loopsKey = subkey(key, "loops");
  const headerDigest = headerDigests(subkey(key, "header-digests"));
  const movingBundle = errorsOf("bundles", "moving a bundle on");
  const running = bundleRunner({
    log,
    aggregates: streams,
    clock,
    randomness,
    payloads: kept,
    gates: stepGates({ log, policies, checks: gateChecks, actions, ledgers: reservations, digestKey: loopsKey }),
    deliver: delivering,
    outcomes: bundlesWaiting,
    onError: movingBundle,
  });

  const accepts = accepting(streams);
  const claims = {
    log,
    aggregates: streams,
    clock,
    randomness,
    payloads: kept,
    ledgers: reservations,
    allowances,
    policies,
    checks: gateChecks,
    digestKey: loopsKey,
    accountOf,
    onDecided: observer.decided,
    onOnlyCounted: calls.requestRefused,
    deliver: delivering,
  };
  const admit = admission({
    ...claims,
    arrived,
    accepting: accepts,
    box: opened,
    counts: counts(counted, clock),
    publicUrl,
  });
  const execute = executing({ ...claims, actions });
  const bundles = bundling({ ...claims, actions });
  const beginBundle = has("deliverer") ? startingAtOnce(bundles, running, movingBundle) : bundles;
  const replayOne = replaying({ ...claims, actions });
  const startReplay = startingReplays({ log, aggregates: streams, clock, randomness });
  const replayMany = replaysLoop({
    log,
    views,
    aggregates: streams,
    replaying: replayOne,
    clock,
    randomness,
    node,
    othersAreGone: isAlone,
    onError: errorsOf("replays", "replaying events"),
  });

  const linking = links(key, randomness);
  const memberLinking = memberLinks({ aggregates: streams, links: linking, hashes, randomness });
  const people = accounts({
    personal,
    aggregates: streams,
    hashes,
    randomness,
    box,
    passwords: passwords(),
    signupPlan: config.signupPlan,
  });
  const expiring = approvalExpiry({
    ...{ log, views, aggregates: streams, clock },
    onError: errorsOf("approvals", "ending approvals that have expired"),
  });
  const guarded = controls({ aggregates: streams, planOf });
  const changes = appliedChanges({ aggregates: streams, controls: guarded });
  const reacting = reactor(
    log,
    [
      ...expiring.reactions,
      ...accountReactions(people, clock),
      ...endpointReactions(streams, clock, delivering.wake),
      ...erasureReactions(log),
      ...personalDataReactions(log),
      ...approvalReactions({ log, aggregates: streams, clock, deliver: delivering }),
      ...replayReactions({ aggregates: streams, deliver: delivering }),
      ...costReactions({ ledgers: reservations, timeZoneOf }),
      ...slotReactions(registering),
      ...heldReactions(reservations),
      ...changeReactions({ aggregates: streams, clock }, changes),
    ],
    clock,
    errorsOf("reactor", "reacting to records"),
  );
  const again = holdingAgain({ log, aggregates: streams, clock, randomness });
  const shown = { log, aggregates: streams, views, progress: projector, clock };
  const stopping = reactor(
    log,
    [
      ...stoppedRequests({ ...shown, outcomes: waiting, deliver: delivering }),
      ...stoppedBundles({ ...shown, outcomes: bundlesWaiting }),
      ...changedTargets({ views, progress: projector, again }),
    ],
    clock,
    errorsOf("suspensions", "reaching what was stopped, or is no longer what was approved"),
    { ...SUSPENSIONS_REACTOR, waits: waitsOf("suspensions") },
  );
  const movingBundles = reactor(
    log,
    bundleReactions({
      log,
      aggregates: streams,
      ledgers: reservations,
      outcomes: bundlesWaiting,
      runner: running,
      clock,
    }),
    clock,
    movingBundle,
    BUNDLE_REACTOR,
  );
  const notifying = reactor(
    log,
    notificationReactions({
      log,
      aggregates: streams,
      views,
      progress: projector,
      payloads: kept,
      deliver: delivering,
      clock,
      randomness,
    }),
    clock,
    errorsOf("notifications", "making notifications"),
    { name: "notifications", gatherMs: NOTIFY_MS, waits: waitsOf("notifications") },
  );

  const tracing =
    exporter === null
      ? null
      : reactor(log, traceReactions(log, exporter), clock, errorsOf("traces", "exporting traces"), {
          name: "traces",
          gatherMs: TRACES_GATHER_MS,
          beginsAtEnd: true,
          atOnce: { keyOf: ({ stream }) => stream, keysMax: TRACES_AT_ONCE },
        });

  const feeding =
    feed === null
      ? null
      : feedLoop({
          log,
          feed,
          positions,
          clock,
          node,
          othersAreGone: isAlone,
          onError: errorsOf("feed", "publishing records"),
        });

  const { endpointExists, policyExists } = references(streams);

  const erasing = errorsOf("retention", "erasing what is past its time");
  const retaining = retention({
    log,
    views,
    sweeps: [
      expiredAnswers(log, clock, erasing),
      orphanedPayloads(log, clock, randomness, erasing),
      orphanedPersonalData(log, clock, randomness, erasing),
    ],
    termsOf: retentionOf,
    clock,
    randomness,
    onError: erasing,
  });
  const overage = overageLoop({
    views,
    progress: projector,
    aggregates: streams,
    provider,
    clock,
    onError: errorsOf("billing", "reporting overage"),
  });

  const checks = {
    log: async () => {
      await log.head();
      return true;
    },
    views: async () => {
      await views.position(PROJECTED);
      return true;
    },
    ...(isAlone ? {} : { clock: async () => engines.clockProblem() === null }),
    ...(has("projector") ? { projector: async () => projector.healthy() } : {}),
    ...(has("deliverer") ? { deliverer: async () => delivering.healthy() } : {}),
  };
  // Shown, and no reason to take a node out of service: another one would do no better.
  const beside = {
    ...(has("deliverer")
      ? { reactions: async () => [reacting, stopping, notifying, movingBundles].every((it) => it.healthy()) }
      : {}),
    ...(feeding === null ? {} : { feed: async () => feeding.healthy() }),
  };
  // The export of traces is nothing to those who read the status page.
  const informational = { ...beside, ...(tracing === null ? {} : { traces: async () => tracing.healthy() }) };
  const healthOf = (check: () => Promise<boolean>) => async () => {
    const isWell = await check().catch(() => false);
    return isWell ? "operational" : "down";
  };

  const components = Object.entries({ ...checks, ...beside }).map(([name, check]) => ({
    name,
    check: healthOf(check),
  }));
  const writeStatus = statusLog({ log, clock, randomness, look: () => statusNow(components) });

  const starting = startLinks({ log, aggregates: streams, links: linking, clock, randomness });
  const entering = {
    signup: config.signup,
    startLinks: starting,
    accounts: people,
    memberLinks: memberLinking,
    sessions: sessions({
      ...{ aggregates: streams, hashes, personal, clock, randomness, slots: registering },
      makeRoom: sessionRoom({ aggregates: streams, slots: registering }),
    }),
    attempts: attempts(clock),
  };
  const routes = [
    ...operationsRoutes({
      version: config.version,
      commit: config.commit,
      publicUrl,
      signup: config.signup,
      startedAt,
      clock,
      checks,
      informational,
      runtime: async () => ({
        engines: { log: places.log.engine, views: places.views.engine, feed: config.kafka === null ? "none" : "kafka" },
        erasure: { bytes_removed: log.bytesRemoved },
        roles: config.roles,
        projections: (await projector.progress()).map(shownAt),
        feed: feeding === null ? null : shownAt(feeding.status()),
      }),
    }),
    ...authRoutes({ ...entering, aggregates: streams, guesses: passwordGuesses(entering.attempts, sleep) }),
    ...linkRoutes(entering),
    ...sessionRoutes({
      ...{ aggregates: streams, sessions: entering.sessions, personal, views, log, clock },
      progress: projector,
    }),
    ...memberRoutes({
      accounts: people,
      hashes,
      memberLinks: memberLinking,
      aggregates: streams,
      views,
      publicUrl,
      controls: guarded,
      randomness,
    }),
    ...apiKeyRoutes({ aggregates: streams, clock, hashes, views }),
    ...capabilityRoutes({
      planOf: accountOf,
      providers: providerCatalogue(),
      maxPayloadBytes: PAYLOAD_BYTES_MAX,
    }),
    ...billingRoutes({ views, clock, subscriptionOf, provider: provider.name }),
    ...checkoutRoutes({ aggregates: streams, views, provider, subscriptionOf, clock, recordCall }),
    ...sourceRoutes({
      aggregates: streams,
      views,
      box,
      publicUrl,
      slots: registering,
      controls: guarded,
      endpointExists,
      policyExists,
    }),
    ...rejectionRoutes({ aggregates: streams, views, personal }),
    ...endpointRoutes({
      recordCall,
      aggregates: streams,
      views,
      box,
      headerDigest,
      addresses,
      sender,
      outbound: headers,
      clock,
      wake: delivering.wake,
      policyExists,
      slots: registering,
      controls: guarded,
    }),
    ...policyRoutes({
      ...{ aggregates: streams, views, compile: validating.policy, slots: registering, controls: guarded },
      definitionRate: publishingRate,
    }),
    ...policyLedgerRoutes({
      aggregates: streams,
      ledgers: reservations,
      timeZoneOf,
      clock,
    }),
    ...agentRoutes({ aggregates: streams, views, hashes, policyExists, slots: registering, controls: guarded }),
    ...actionRoutes({
      aggregates: streams,
      views,
      compile: validating.action,
      definitionRate: publishingRate,
      endpointExists,
      policyExists,
      slots: registering,
      controls: guarded,
    }),
    ...executeRoutes({ log, execute, outcomes: waiting }),
    ...eventTraceRoutes({ views, log, version: config.version, serviceName: config.serviceName }),
    ...bundleRoutes({
      calls,
      documents,
      log,
      views,
      payloads: kept,
      begin: beginBundle,
      approvals: approvalRequests({ log, aggregates: streams, clock }),
      outcomes: bundlesWaiting,
    }),
    ...eventRoutes({ views, log, payloads: kept, publicUrl, calls, documents }),
    ...replayRoutes({
      ...{ log, views, progress: projector, aggregates: streams },
      ...{ replaying: replayOne, starting: startReplay, loop: replayMany, calls },
    }),
    ...approvalRoutes({
      calls,
      documents,
      aggregates: streams,
      log,
      views,
      payloads: kept,
      releases: approvalReleases({ log, aggregates: streams, clock }),
      again,
      changes,
    }),
    ...auditRoutes({ views, log, personal }),
    ...auditStreamRoutes({
      views,
      log,
      progress: projector,
      aggregates: streams,
      positions,
      onError: errorsOf("audit stream", "looking for new records"),
    }),
    ...statusRoutes({ views, clock, components }),
  ];

  const readings: Readings = {
    parts: partsReading({ ...checks, ...informational }),
    async projections() {
      // Whoever has died has said last how far it was.
      if (!projector.healthy()) throw new Error("nobody folds");
      return projector.progress();
    },
    queue: queueReading(views, clock),
    endpoints: endpointsReading(views, clock),
    appends,
  };

  const http = await app({
    routes,
    authenticate: credentials({ aggregates: streams, hashes, clock }),
    log,
    progress: projector,
    positions,
    clock,
    randomness,
    box,
    digestKey: subkey(key, "idempotency"),
    othersAreGone: isAlone,
    planOf,
    config: { publicUrl, version: config.version, trustProxy: config.trustProxy },
    logger: loggerOptions(config, lines),
    onAnswered: observer.answered,
    onProblem: problemRecords({
      calls,
      lapsedOf: lapsedCredentials({ aggregates: streams, clock }),
      onError: recordingCounts,
    }),
    async register(scope) {
      await scope.register(ingest({ accepting: accepts, admit, positions, clock }));
      await scope.register(
        provider.name === "manual"
          ? manualPages({ aggregates: streams, views, box, clock, publicUrl, calls })
          : providerWebhooks(provider, { aggregates: streams, clock, calls }),
      );
      await scope.register(metricsRoute({ meters, readings, token: config.metricsToken }));
    },
  });

  const timers: NodeJS.Timeout[] = [];
  const recordingStatus = errorsOf("status", "recording the status of the parts");
  const every = (ms: number, work: () => Promise<void>, onError: (error: unknown) => void): void => {
    timers.push(setInterval(() => work().catch(onError), ms).unref());
  };

  let silence: () => void = () => undefined;

  return {
    logger: http.log,
    async start() {
      if (has("api")) {
        await http.listen({ host: config.host, port: config.port });
        port = (http.server.address() as AddressInfo).port;
      }
      if (has("deliverer")) {
        delivering.start();
        reacting.start();
        stopping.start();
        notifying.start();
        tracing?.start();
        movingBundles.start();
        expiring.start();
        replayMany.start();
        retaining.start();
        overage.start();
        timers.push(setTimeout(() => writeStatus().catch(recordingStatus), STATUS_FIRST_MS).unref());
        every(SLOT_MS, writeStatus, recordingStatus);
      }
      // What this process admits it hands to its own deliverer; of what others admit it only hears.
      if (has("deliverer") && !has("api")) silence = whenAppended(log, FOLDED_MS, delivering.wake);
      feeding?.start();
      every(SWEEP_MS, () => reservations.sweep(), errorsOf("ledgers", "releasing places of requests that died"));
      every(COUNTS_MS, () => counted.flush(false), recordingCounts);
      // A server on a port: null, or this.
      return http.server.address() as AddressInfo | null;
    },
    async startLink() {
      if (config.signup === "open") return null;
      const token = await starting.make();
      return token === null ? null : linkUrl(publicUrl(), "start", token);
    },
    async stop(graceMs) {
      for (const timer of timers) clearInterval(timer);
      silence();
      await http.close();
      await replayMany.stop();
      await delivering.stop(graceMs);
      await reacting.stop();
      await stopping.stop();
      await notifying.stop();
      await exporter?.close();
      await tracing?.stop();
      await movingBundles.stop();
      await running.stop();
      await expiring.stop();
      await retaining.stop();
      await overage.stop();
      await expensiveChecks.stop();
      await largeDocuments.stop();
      await largeDefinitions.stop();
      await largeArrivals.stop();
      await counted.stop();
      await reservations.idle();
      // Last, and shortly: a broker that hangs keeps nothing here from being written down.
      await feeding?.stop(FEED_STOP_MS);
      await feed?.close();
      await sender.close(graceMs);
      await views.close();
      await projector.stop();
      await log.close();
    },
  };
};
