import { PLANS } from "../../domain/account/plans.ts";
import type { AgentEvent } from "../../domain/agent/events.ts";
import { delivery } from "../../domain/delivery/decider.ts";
import type { EndpointSettings } from "../../domain/endpoint/events.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { PolicyDefinition } from "../../domain/policy/definition.ts";
import type { EventLog, RecordedEvent } from "../../domain/ports/event-log.ts";
import type { HttpSender, SendOutcome } from "../../domain/ports/sender.ts";
import { randomness } from "../../infra/crypto/randomness.ts";
import { memoryEventLog } from "../../infra/memory/event-log.ts";
import { memoryViewStore } from "../../infra/memory/view-store.ts";
import { deliveryQueue } from "../../projections/delivery-queue.ts";
import { events as eventsView } from "../../projections/events.ts";
import { Deliverer } from "../../src/delivery/deliverer.ts";
import { outbound } from "../../src/delivery/outbound.ts";
import { type ExecuteRequest, executing } from "../../src/execute/agent-requests.ts";
import { executionAnswer, hasEnded } from "../../src/execute/answer.ts";
import { outcomes } from "../../src/execute/outcome-waits.ts";
import { costReactions, stoppedRequests } from "../../src/execute/reactions.ts";
import { waitingPlaces } from "../../src/execute/waiting-places.ts";
import { Reactor } from "../../src/following/reactor.ts";
import { compiledActions } from "../../src/gates/compiled-action.ts";
import { compiledPolicies } from "../../src/gates/compiled-policy.ts";
import { ledgers } from "../../src/ledgers/ledgers.ts";
import { placeStatus } from "../../src/ledgers/place-status.ts";
import { dayLedger } from "../../src/ledgers/policy-days.ts";
import { actionId } from "../../src/streams/action-stream.ts";
import { aggregates } from "../../src/streams/aggregates.ts";
import { type Envelope, toEvents } from "../../src/streams/envelope.ts";
import { payloads } from "../../src/streams/payloads.ts";
import { inlineProjector } from "../../src/views/view-progress.ts";
import { enoughBytes } from "./enough-bytes.ts";
import { NOON_DAY, noonClock } from "./noon-clock.ts";

export const ACCOUNT = "acc_1";
export const AGENT_ID = `agt_${"a".repeat(32)}`;
export const POLICY_ID = `pol_${"a".repeat(32)}`;
export const ENDPOINT_ID = `end_${"a".repeat(32)}`;
export const TRACE = { trace_id: "1".repeat(32), span_id: "2".repeat(16) };
const WAIT_MS = 5_000;
const VIEWS = [eventsView, deliveryQueue];

export const ENDPOINT: EndpointSettings = {
  name: "app",
  url: "https://app.example/hook",
  timeout_ms: 1_000,
  retry_schedule_s: [1],
  concurrency: 10,
  rate_per_second: null,
  headers: {},
  notifications: [],
  policy_id: null,
};

/** Of the target: what it got, and what it answers with. */
type Target = {
  readonly arrivals: {
    readonly id: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string;
  }[];
  answer: (body: string) => SendOutcome | Promise<SendOutcome>;
};

export const answered = (statusCode: number, body = "{}", headers: Record<string, string> = {}): SendOutcome => ({
  outcome: "answered",
  statusCode,
  headers: { "content-type": "application/json", ...headers },
  body: Buffer.from(body),
  truncated: false,
  retryAfterMs: null,
  timings: { dns: 0, connect: 0, tls: 0, first_byte: 1, total: 1 },
});

const envelope = (at: string): Envelope => ({
  commandId: `cmd_${randomness.number()}`,
  account: ACCOUNT,
  actor: { kind: "system", id: "test" },
  trace: TRACE,
  at,
});

/** The ledger of the policy on the day of the world's clock. */
export const LEDGER = dayLedger(POLICY_ID, NOON_DAY);

/** A log in which an agent, its policy, the action `refund.create` and its endpoint are there; and the target. */
export const agentsWorld = async (policy: Partial<PolicyDefinition> = {}, action: JsonObject = {}) => {
  const log = memoryEventLog();
  const clock = noonClock();
  const now = (): string => new Date(clock.now()).toISOString();
  const at = now();
  const add = (stream: string, type: string, data: object) =>
    // Facts of several domains, each plain JSON.
    log.append(stream, "any", toEvents([{ type, data }], envelope(now())));
  await add(`endpoint-${ENDPOINT_ID}`, "EndpointRegistered", {
    ...ENDPOINT,
    endpoint_id: ENDPOINT_ID,
    account: ACCOUNT,
    secret: "whsec_c2VjcmV0",
    at,
  });
  await add(`policy-${POLICY_ID}`, "PolicyPublished", {
    policy_id: POLICY_ID,
    account: ACCOUNT,
    version: 1,
    definition: { name: "p", ...policy },
    created_by: "key_1",
    at,
  });
  const name = "refund.create";
  const id = actionId(ACCOUNT, name);
  const definition = { endpoint_id: ENDPOINT_ID, reversibility: "reversible", cost: { fixed_eur: 2 }, ...action };
  const about = { action_id: id, account: ACCOUNT, name, version: 1, definition, by: "key_1", at };
  await add(`action-${id}`, "ActionDefined", about);
  await add(`agent-${AGENT_ID}`, "AgentRegistered", {
    ...{ agent_id: AGENT_ID, account: ACCOUNT, name: "helper", policy_id: POLICY_ID, scope: { actions: ["*"] } },
    ...{ key_id: "key", digest: "d", last4: "last", at },
  });
  const issued = { account: ACCOUNT, agent_id: AGENT_ID, key_id: "key", made_by: "mem_1", at };
  await add("apikey-key", "AgentKeyIssued", issued);
  const target: Target = { arrivals: [], answer: () => answered(200, '{"refund":"r-1"}') };
  const everything = async (): Promise<readonly RecordedEvent[]> => log.readAll(null, 100_000);
  return {
    log,
    clock,
    /** As records have it. */
    now,
    target,
    everything,
    /** Of the agent's stream. */
    tell: (event: AgentEvent) => add(`agent-${AGENT_ID}`, event.type, event.data),
    ofType: async (type: string) => (await everything()).filter((event) => event.type === type),
  };
};

export type AgentsWorld = Awaited<ReturnType<typeof agentsWorld>>;

export type NodeOptions = {
  /** What the node sees of the world's log. */
  readonly log?: EventLog;
  /** Every other node that held a lease is gone. */
  readonly isAlone?: boolean;
  readonly waitersMax?: number;
  readonly onError?: (error: unknown) => void;
};

const fail = (error: unknown): never => {
  throw error;
};

let nodes = 0;

/** The parts of the program that an agent's request goes through, as `service.ts` puts them together. */
export const startNode = async (world: AgentsWorld, options: NodeOptions = {}) => {
  const { log = world.log, isAlone = false, onError = fail, waitersMax } = options;
  nodes += 1;
  const { clock } = world;
  const streams = aggregates(log, clock);
  const views = memoryViewStore(VIEWS.map(({ schema }) => schema));
  // The views are the world's: they show what the log has, whatever becomes of the node.
  const progress = await inlineProjector({ log: world.log, views, projections: VIEWS, clock, onError: fail });
  const places = ledgers({
    log,
    clock,
    randomness,
    placeStatus: placeStatus(log, clock, randomness),
    orphanAgeMs: isAlone ? 0 : 30_000,
    onError,
  });
  const waiting = outcomes({
    log,
    decider: delivery,
    category: "delivery",
    onError,
    places: waitingPlaces(waitersMax),
  });
  const sender: HttpSender = {
    async send({ headers, body }) {
      const text = Buffer.from(body).toString();
      world.target.arrivals.push({ id: String(headers["webhook-id"]), headers, body: text });
      return world.target.answer(text);
    },
    close: async () => undefined,
  };
  const kept = payloads(log, randomness);
  const delivering = new Deliverer({
    allowances: enoughBytes,
    ...{ log, views, aggregates: streams, clock, randomness, payloads: kept, sender, onError },
    outbound: outbound({ open: (sealed) => sealed }, "test"),
    node: `node_${nodes}`,
    othersAreGone: isAlone,
    onChanged: waiting.changed,
  });
  const execute = executing({
    ...{ log, aggregates: streams, clock, randomness, payloads: kept, ledgers: places, deliver: delivering },
    policies: compiledPolicies(),
    digestKey: Buffer.alloc(32, 1),
    allowances: enoughBytes,
    accountOf: async () => ({ plan: PLANS.scale, timeZone: "UTC" }),
    actions: compiledActions(),
  });
  const reacting = new Reactor({ log, clock, onError }, [
    ...costReactions({ ledgers: places, timeZoneOf: async () => "UTC" }),
    ...stoppedRequests({
      ...{ log, aggregates: streams, views, progress, outcomes: waiting, deliver: delivering, clock },
    }),
  ]);
  delivering.start();
  reacting.start();

  return {
    ledgers: places,
    outcomes: waiting,
    /** As the route does: the status, the body, and whether it is a repeat's. */
    async execute(key: string, over: Partial<ExecuteRequest> = {}, waitMs = WAIT_MS) {
      const about = { account: ACCOUNT, agentId: AGENT_ID, key, action: "refund.create", payload: { order: 1 } };
      const rest = { runId: null, depth: 0, costMicro: null, userAgent: "test", trace: TRACE };
      const begun = await execute({ ...about, ...rest, ...over });
      if ("problem" in begun) return { status: begun.problem, body: begun.extra ?? {}, replayed: false };
      const { signal } = new AbortController();
      const until = { account: ACCOUNT, isEnough: hasEnded, waitMs, signal };
      const { state } = await waiting.wait(begun.eventId, begun.known, until);
      const { status, body } = await executionAnswer({ log, account: ACCOUNT }, begun.eventId, state);
      return { status, body, replayed: begun.replayed };
    },
    async stop() {
      await delivering.stop(0);
      await reacting.stop();
      await progress.stop();
    },
  };
};
