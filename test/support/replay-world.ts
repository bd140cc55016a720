import { PLANS } from "../../domain/account/plans.ts";
import type { Failure } from "../../domain/delivery/attempt-end.ts";
import type { DeliveryCommand } from "../../domain/delivery/commands.ts";
import { delivery } from "../../domain/delivery/decider.ts";
import type { DeliveryEvent, Origin, Replay, Request } from "../../domain/delivery/events.ts";
import type { Delivery } from "../../domain/delivery/state.ts";
import type { PolicyDefinition } from "../../domain/policy/definition.ts";
import type { Actor, EventLog } from "../../domain/ports/event-log.ts";
import type { ViewStore } from "../../domain/ports/view-store.ts";
import { randomness } from "../../infra/crypto/randomness.ts";
import { memoryEventLog } from "../../infra/memory/event-log.ts";
import { memoryViewStore } from "../../infra/memory/view-store.ts";
import { endpoints } from "../../projections/endpoints.ts";
import { events } from "../../projections/events.ts";
import { replays } from "../../projections/replays.ts";
import type { Job } from "../../src/delivery/job.ts";
import { personalData } from "../../src/erasure/personal-data.ts";
import { actionDigest } from "../../src/execute/digest.ts";
import { compiledActions } from "../../src/gates/compiled-action.ts";
import { compiledPolicies } from "../../src/gates/compiled-policy.ts";
import type { Principal } from "../../src/http/route.ts";
import { ledgers } from "../../src/ledgers/ledgers.ts";
import { placeStatus } from "../../src/ledgers/place-status.ts";
import { dayLedger } from "../../src/ledgers/policy-days.ts";
import type { DecisionReport } from "../../src/observability/observer.ts";
import { bulkReplayStart } from "../../src/replays/bulk-replay-start.ts";
import { BulkReplayer } from "../../src/replays/bulk-replayer.ts";
import { EventReplayer } from "../../src/replays/event-replayer.ts";
import type { ReplayOrder } from "../../src/replays/replay-order.ts";
import { replayRoutes } from "../../src/routes/replays/replays.ts";
import { actionStream } from "../../src/streams/action-stream.ts";
import { aggregates } from "../../src/streams/aggregates.ts";
import { type Envelope, toEvents } from "../../src/streams/envelope.ts";
import { payloads } from "../../src/streams/payloads.ts";
import { foldStream } from "../../src/streams/run-command.ts";
import { inlineProjector } from "../../src/views/view-progress.ts";
import { caller } from "./call.ts";
import { enoughBytes } from "./enough-bytes.ts";
import { NO_CALLS } from "./no-calls.ts";
import { noonClock } from "./noon-clock.ts";
import { addressed, words } from "./personal-words.ts";

export const ACCOUNT = "acc_a";
export const ADMIN: Principal = {
  kind: "member",
  account: ACCOUNT,
  id: "mem_1",
  ...addressed("ana@a.example"),
  role: "admin",
  session: "session-a",
};
export const BY = { kind: "member", id: "mem_1" } as const;
export const SOURCE_ID = `src_${"a".repeat(32)}`;
export const ENDPOINT_ID = `end_${"a".repeat(32)}`;
export const POLICY_ID = `pol_${"a".repeat(32)}`;
export const AGENT_ID = `agt_${"a".repeat(32)}`;
const DIGEST_KEY = Buffer.alloc(32, 1);
const ACTION = "refund.create";
const SHOP: Origin = { kind: "source", id: SOURCE_ID, name: "shop", type: "hmac" };
const AGENT: Origin = { kind: "agent", id: AGENT_ID, name: "refunds", type: "agent" };
const TRACE = { trace_id: "1".repeat(32), span_id: "2".repeat(16) };
const VIEWS = [events, replays, endpoints];
export const REPLAY_SCHEMAS = VIEWS.map(({ schema }) => schema);
const CONNECT: Failure = { kind: "connect", detail: "refused" };
const SERVER_ERROR: Failure = { kind: "http-5xx", detail: "The receiver answered 500" };

/** Ids as the service makes them: whatever is not one is no stream. */
export const eventIdOf = (number: number): string =>
  `evt_${number
    .toString(8)
    .padStart(32, "a")
    .replace(/[0-7]/g, (digit) => "bcdefghi"[Number(digit)] ?? "z")}`;
export const replayIdOf = (number: number): string => eventIdOf(number).replace("evt_", "rpl_");

const fail = (error: unknown): never => {
  throw error;
};

/** Source, agent, policy and endpoint of one account, and events that have ended as a test says; its time begins at noon. */
export const replayWorld = async (policy: Partial<PolicyDefinition> = {}) => {
  const log = memoryEventLog();
  const clock = noonClock();
  const kept = payloads(log, randomness);
  let commands = 0;
  const now = (): string => new Date(clock.now()).toISOString();
  const envelope = (actor: Actor = { kind: "system", id: "test" }): Envelope => {
    commands += 1;
    return { commandId: `world-${commands}`, account: ACCOUNT, actor, trace: TRACE, at: now() };
  };
  const add = (stream: string, type: string, data: object) =>
    // Facts of several domains, each plain JSON.
    log.append(stream, "any", toEvents([{ type, data }], envelope()));

  const publish = async (definition: Partial<PolicyDefinition>, version: number): Promise<void> => {
    const about = { policy_id: POLICY_ID, account: ACCOUNT, version, created_by: "mem_1", at: now() };
    await add(`policy-${POLICY_ID}`, "PolicyPublished", { ...about, definition: { name: "p", ...definition } });
  };
  await publish(policy, 1);
  const target = { name: "app", url: "https://app.example/hook", timeout_ms: 1_000, retry_schedule_s: [] };
  const endpoint = (id: string) =>
    add(`endpoint-${id}`, "EndpointRegistered", {
      ...{ endpoint_id: id, account: ACCOUNT, secret: "sealed", at: now() },
      ...{ ...target, concurrency: 10, rate_per_second: null, headers: {}, notifications: [], policy_id: null },
    });
  await endpoint(ENDPOINT_ID);
  await add(`source-${SOURCE_ID}`, "SourceRegistered", {
    ...{ source_id: SOURCE_ID, account: ACCOUNT, name: "shop", type: "hmac", auth: null, dedupe: null },
    ...{
      policy_id: POLICY_ID,
      endpoint_id: ENDPOINT_ID,
      status: "active",
      secret: "sealed",
      made_by: "mem_1",
      at: now(),
    },
  });
  await add(actionStream(ACCOUNT, ACTION), "ActionDefined", {
    ...{ action_id: "act_1", account: ACCOUNT, name: ACTION, version: 1, by: "mem_1", at: now() },
    definition: { endpoint_id: ENDPOINT_ID, reversibility: "reversible", cost: { fixed_eur: 2 } },
  });
  await add(`agent-${AGENT_ID}`, "AgentRegistered", {
    ...{ agent_id: AGENT_ID, account: ACCOUNT, name: "refunds", policy_id: POLICY_ID, scope: { actions: ["*"] } },
    ...{ key_id: "agk_1", digest: "d", last4: "last", at: now() },
  });
  const made = { account: ACCOUNT, made_by: "mem_1", at: now() };
  await add("apikey-agk_1", "AgentKeyIssued", { ...made, agent_id: AGENT_ID, key_id: "agk_1" });
  await add("apikey-key_1", "ApiKeyIssued", { ...made, key_id: "key_1" });

  const requestOf = async (number: number, origin: Origin, over: Partial<Request>): Promise<Request> => {
    const eventId = eventIdOf(number);
    const payload = { order: number };
    const body = Buffer.from(JSON.stringify(payload));
    const incoming = {
      body,
      contentType: "application/json",
      contentEncoding: "",
      headers: { "user-agent": "shop/1" },
    };
    const stored = await kept.keepFirst(eventId, incoming, envelope());
    if (stored === null) throw new Error(`${eventId} is there already`);
    const at = new Date(Date.parse("2026-03-01T12:00:00.000Z") + number * 1_000).toISOString();
    const about = { account: ACCOUNT, agent: AGENT_ID, action: ACTION, version: 1, target: ENDPOINT_ID, payload };
    const asked = {
      action: { name: ACTION, version: 1, digest: actionDigest(DIGEST_KEY, about) },
      run: { id: null, depth: 0 },
    };
    return {
      event_id: eventId,
      origin,
      delivery_key: `k${number}`,
      type: origin.kind === "agent" ? ACTION : "order.paid",
      payload: { ...stored, content_type: "application/json", size: body.length },
      endpoint_id: ENDPOINT_ID,
      verdict: { decision: "allow", policy: { id: POLICY_ID, version: 1 }, gates: [] },
      cost: null,
      ...(origin.kind === "agent" ? asked : {}),
      received_at: at,
      authenticated_at: at,
      at,
      ...over,
    };
  };

  const append = async (eventId: string, facts: readonly DeliveryEvent[]): Promise<void> => {
    await log.append(`delivery-${eventId}`, "any", toEvents(facts, envelope()));
  };

  const stateOf = async (eventId: string): Promise<Delivery> =>
    (await foldStream(log, delivery, `delivery-${eventId}`)).state;

  const decide = async (eventId: string, command: DeliveryCommand): Promise<void> => {
    const decision = delivery.decide(command, await stateOf(eventId));
    if (!decision.ok) throw new Error(decision.rejection);
    await append(eventId, decision.events);
  };

  /** One attempt, and what its end leads to by the decider. */
  const attempt = async (eventId: string, failure: Failure, reported?: number): Promise<void> => {
    const state = await stateOf(eventId);
    const number = "attempts" in state ? state.attempts + 1 : 1;
    const about = { endpointId: ENDPOINT_ID, trigger: "auto", node: "node_test", othersAreGone: true } as const;
    await decide(eventId, { type: "StartAttempt", ...about, at: now(), leaseUntil: now() });
    const timings_ms = { dns: 0, connect: 0, tls: 0, first_byte: null, total: 1 };
    const ids = { event_id: eventId, endpoint_id: ENDPOINT_ID };
    const end = { ...ids, number, at: now(), duration_ms: 1, status_code: null, timings_ms };
    const said = reported === undefined ? {} : { cost_reported: reported };
    await decide(eventId, { type: "Fail", end: { ...end, ...said }, failure, retryable: true, nextAttemptAt: null });
  };

  return {
    log,
    clock,
    kept,
    add,
    endpoint,
    publish,
    attempt,
    append,
    async failed(number: number, over: Partial<Request> = {}, failure = SERVER_ERROR): Promise<string> {
      const request = await requestOf(number, SHOP, over);
      await append(request.event_id, [{ type: "EventAdmitted", data: request }]);
      await attempt(request.event_id, failure);
      return request.event_id;
    },
    async admitted(number: number, over: Partial<Request> = {}): Promise<string> {
      const request = await requestOf(number, SHOP, over);
      await append(request.event_id, [{ type: "EventAdmitted", data: request }]);
      return request.event_id;
    },
    async blocked(number: number, over: Partial<Request> = {}, origin = SHOP): Promise<string> {
      const verdict = { decision: "deny", policy: { id: POLICY_ID, version: 1 }, gates: [] } as const;
      const request = await requestOf(number, origin, { verdict, ...over });
      await append(request.event_id, [{ type: "EventBlocked", data: request }]);
      return request.event_id;
    },
    /** An agent's request whose one attempt never reached its target, or did. */
    async askedFor(number: number, isReached: boolean, ledger = dayLedger(POLICY_ID, "2026-03-01")): Promise<string> {
      const request = await requestOf(number, AGENT, { cost: 2_000_000, ledgers: [ledger] });
      await append(request.event_id, [{ type: "EventAdmitted", data: request }]);
      await attempt(request.event_id, isReached ? SERVER_ERROR : CONNECT);
      return request.event_id;
    },
    /** A source's event that was held with a place in the ledger, approved, and never reached its receiver. */
    async approved(number: number, ledger: string): Promise<string> {
      const request = await requestOf(number, SHOP, { cost: 2_000_000, ledgers: [ledger] });
      const terms = {
        approval_id: "apr_1",
        digest: "d",
        min_approvals: 1,
        exclude_requester: false,
        reasons: [],
        requesters: [],
      };
      const approval = { ...terms, expires_at: new Date(clock.now() + 3_600_000).toISOString() };
      await append(request.event_id, [{ type: "EventHeld", data: { ...request, approval } }]);
      await decide(request.event_id, { type: "Release", approvalId: "apr_1", digest: "d", at: now() });
      await attempt(request.event_id, CONNECT);
      return request.event_id;
    },
    blockedAgent: AGENT,
    deliveryOf: stateOf,
    recordsOf: (eventId: string) => log.read(`delivery-${eventId}`, null, 500),
    typesOf: async (eventId: string) => (await log.read(`delivery-${eventId}`, null, 500)).map(({ type }) => type),
    ofType: async (type: string) => (await log.readAll(null, 100_000)).filter((it) => it.type === type),
  };
};

export type ReplayWorld = Awaited<ReturnType<typeof replayWorld>>;

let nodes = 0;

/** One node with views of its own over the world's log; `over` is the log as it sees it. */
export const replayNode = async (
  world: ReplayWorld,
  {
    log = world.log,
    views: seen,
    othersAreGone = false,
    onError = fail,
    onReplay,
    store = memoryViewStore(REPLAY_SCHEMAS),
  }: {
    readonly log?: EventLog;
    /** Keeps the node's own views. */
    readonly store?: ViewStore;
    /** The views that the bulk replayer reads; the node's own unless given. */
    readonly views?: ViewStore;
    readonly othersAreGone?: boolean;
    readonly onError?: (error: unknown) => void;
    /** May throw. */
    readonly onReplay?: (eventId: string) => void;
  } = {},
) => {
  nodes += 1;
  const { clock } = world;
  const node = `node_${nodes}`;
  const streams = aggregates(log, clock);
  const views = store;
  const progress = await inlineProjector({ log: world.log, views, projections: VIEWS, clock, onError: fail });
  const offered: Job[] = [];
  const told: DecisionReport[] = [];
  const places = ledgers({
    log,
    clock,
    randomness,
    placeStatus: placeStatus(log, clock, randomness),
    orphanAgeMs: othersAreGone ? 0 : 30_000,
    onError,
  });
  const replayed = new EventReplayer({
    ...{ log, aggregates: streams, clock, randomness, payloads: payloads(log, randomness), ledgers: places },
    deliver: { offer: (job) => void offered.push(job) },
    policies: compiledPolicies(),
    digestKey: DIGEST_KEY,
    allowances: enoughBytes,
    accountOf: async () => ({ plan: PLANS.scale, timeZone: "UTC" }),
    actions: compiledActions(),
    onDecided: (decision) => void told.push(decision),
  });
  const replayer = {
    async replay(order: ReplayOrder) {
      onReplay?.(order.eventId);
      return replayed.replay(order);
    },
  };
  const bulkReplayer = new BulkReplayer({
    log,
    views: seen ?? views,
    aggregates: streams,
    ...{ replayer, clock, randomness, node, othersAreGone, onError },
  });
  const startBulkReplay = bulkReplayStart({ log, aggregates: streams, clock, randomness });
  const routes = replayRoutes({
    log,
    views,
    progress,
    aggregates: streams,
    ...{ replayer, startBulkReplay, bulkReplayer },
    calls: NO_CALLS,
    personal: personalData(log, randomness),
  });
  let orders = 0;
  return {
    node,
    offered,
    /** What was told of decisions. */
    told,
    views,
    progress,
    log,
    startBulkReplay,
    replayer,
    bulkReplayer,
    ledgers: places,
    streams,
    routes,
    call: caller(routes),
    /** Until the views show all there is. */
    async shown(): Promise<void> {
      const head = await world.log.head("records");
      const names = VIEWS.map(({ schema }) => schema.name);
      if (head !== null && !(await progress.waitFor(names, head, 20_000))) throw new Error("the views are behind");
    },
    /** One event, by a member. */
    replay(eventId: string, number: number, over: { readonly replay?: Partial<Replay>; readonly upTo?: string } = {}) {
      orders += 1;
      const replay = { id: replayIdOf(number), by: BY, reason: words("mended"), ...over.replay };
      const envelope: Envelope = {
        commandId: `${replay.id}/${eventId}/${over.replay === undefined ? "" : orders}`,
        account: ACCOUNT,
        actor: replay.by,
        trace: TRACE,
        at: new Date(clock.now()).toISOString(),
      };
      const upTo = over.upTo === undefined ? {} : { upTo: over.upTo };
      return replayer.replay({ eventId, replay, envelope, ...upTo });
    },
    async stop(): Promise<void> {
      await bulkReplayer.stop();
      await progress.stop();
    },
  };
};
