import { delivery } from "../../../domain/delivery/decider.ts";
import { type Delivery, requestOf } from "../../../domain/delivery/state.ts";
import { ACTION_NAME_MAX } from "../../../domain/evidence/action-name.ts";
import { EUR_MAX, eurOf, microOf } from "../../../domain/gate/cost.ts";
import type { EventLog } from "../../../domain/ports/event-log.ts";
import type { Execute } from "../../execute/agent-requests.ts";
import { executionAnswer, hasEnded } from "../../execute/answer.ts";
import { untilEndedOrHeld } from "../../execute/end-waits.ts";
import type { Outcomes } from "../../execute/outcome-waits.ts";
import { named } from "../../http/named-schemas.ts";
import { type Handler, type Input, type JsonSchema, positionOf, type Route, route } from "../../http/route.ts";
import { GATE_PROBLEMS } from "../../http/route-problems.ts";
import { isEventId } from "../../streams/event-id.ts";
import { notFound } from "../../streams/problems.ts";
import { foldStream, latestOf } from "../../streams/run-command.ts";
import { DEPTH_HEADER, depthOf, invalidField, RESULT, RUN_FIELDS, WAIT_MS, WAIT_QUERY } from "./request-input.ts";

export type ExecuteRoutesDeps = {
  readonly log: EventLog;
  readonly execute: Execute;
  readonly outcomes: Pick<Outcomes<Delivery>, "wait">;
};

type Handle<I extends Input = object> = (deps: ExecuteRoutesDeps) => Handler<I>;

const BODY = named("ActionRequest", {
  type: "object",
  required: ["action", "payload"],
  additionalProperties: false,
  properties: {
    action: { type: "string", minLength: 1, maxLength: ACTION_NAME_MAX },
    payload: { description: "Any JSON: the body that the target receives" },
    cost_eur: {
      type: "number",
      minimum: 0,
      maximum: EUR_MAX,
      description: "The cost that the agent expects; it counts if it is above that of the action or the policy",
    },
    ...RUN_FIELDS,
  },
  examples: [{ action: "refund.create", payload: { charge: "ch_1", amount: 20 }, run_id: "nightly" }],
});

const STATUSES = ["queued", "retrying", "held", "delivered", "failed", "blocked", "rejected", "expired", "cancelled"];

const EXECUTION: JsonSchema = named("Execution", {
  type: "object",
  required: ["event_id", "status", "verdict", "cost_eur"],
  properties: {
    event_id: { type: "string" },
    status: { enum: STATUSES },
    approval_id: { type: "string", description: "If it is or was held for approval" },
    verdict: { type: ["object", "null"] },
    cost_eur: { type: ["number", "null"], description: "The estimate; the cost once it has ended" },
    reason: { type: "string", description: "Why it was not sent, if it was rejected, expired or was cancelled" },
    result: RESULT,
    failure: {
      type: ["object", "null"],
      required: ["kind", "detail"],
      properties: { kind: { type: "string" }, detail: { type: "string" } },
    },
  },
});

const ANSWERS = { 200: EXECUTION, 202: EXECUTION, 409: EXECUTION, 502: EXECUTION };

/** The amount in micro-euros; null if it has more than six decimals, as such an amount is refused, not rounded. */
const exactMicro = (eur: number): number | null => {
  const micro = microOf(eur);
  return micro !== null && eurOf(micro) === eur ? micro : null;
};

const heldFor = (state: Delivery): string | null => (state.phase === "held" ? state.approval.approval_id : null);

const execute: Handle<{ body: typeof BODY }> =
  ({ log, execute, outcomes }) =>
  async (call) => {
    const { principal, envelope, key } = call;
    const { action, payload, run_id: runId = null, cost_eur, wait_ms: waitMs = WAIT_MS } = call.body;
    const costMicro = cost_eur === undefined ? null : exactMicro(cost_eur);
    if (cost_eur !== undefined && costMicro === null) return invalidField("/cost_eur", "must have at most 6 decimals");
    const depth = depthOf(call);
    if (typeof depth !== "number") return depth;
    const { account, id: agentId } = principal;
    const { userAgent } = call;
    const { trace } = envelope;
    const about = { account, agentId, key: key ?? "", action, payload, runId, depth, costMicro, userAgent, trace };
    const begun = await execute(about);
    if ("problem" in begun) return begun;
    const { eventId, known, replayed, position } = begun;
    const awaited = { id: eventId, known, heldFor, hasEnded };
    const seen = await untilEndedOrHeld(log, outcomes, awaited, { account, waitMs, signal: call.closing });
    const answer = await executionAnswer({ log, account }, eventId, seen.state);
    return {
      ...answer,
      ...(replayed ? { headers: { ...answer.headers, "idempotent-replayed": "true" } } : {}),
      ...positionOf({ position: latestOf(position, seen.position) }),
    };
  };

const show: Handle<{ query: typeof WAIT_QUERY; params: "event_id" }> =
  ({ log, outcomes }) =>
  async ({ principal, params, query, closing: signal }) => {
    const { event_id: id } = params;
    if (!isEventId(id)) return notFound();
    const known = await foldStream(log, delivery, `delivery-${id}`);
    const { state } = known;
    const request = requestOf(state);
    const { kind, id: originId } = request?.origin ?? {};
    // An agent's id is unique across all accounts, so the account need not be compared.
    if (request === null || kind !== "agent" || originId !== principal.id) return notFound();
    const { wait_ms: waitMs } = query;
    const { account } = principal;
    const seen = await outcomes.wait(id, known, { account, isEnough: hasEnded, waitMs, signal });
    return executionAnswer({ log, account }, id, seen.state);
  };

const AGENTS = { agent: true } as const;

export const executeRoutes = (deps: ExecuteRoutesDeps): readonly Route[] => [
  route({
    method: "POST",
    path: "/v1/execute",
    who: AGENTS,
    summary: "Execute an action once, and wait for its target's response",
    tag: "agents",
    headers: DEPTH_HEADER,
    body: BODY,
    problems: ["agent-suspended", "unknown-action", ...GATE_PROBLEMS],
    answers: ANSWERS,
    answersRepeats: true,
    waits: true,
    handle: execute(deps),
  }),
  route({
    method: "GET",
    path: "/v1/executions/{event_id}",
    who: AGENTS,
    summary: "Show an execution of this agent",
    tag: "agents",
    query: WAIT_QUERY,
    answers: ANSWERS,
    waits: true,
    handle: show(deps),
  }),
];
