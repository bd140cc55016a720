import { ACTION_NAME_MAX } from "../../domain/action/name.ts";
import { approval } from "../../domain/approval/decider.ts";
import { type Delivery, delivery } from "../../domain/delivery/decider.ts";
import { EUR_MAX, eurOf, microOf } from "../../domain/gate/cost.ts";
import { DEPTH_MAX } from "../../domain/ledger/loop.ts";
import type { EventLog, Json } from "../../domain/ports.ts";
import { UNKNOWN } from "../admission/claim.ts";
import { approvalStream } from "../approvals.ts";
import { isEventId } from "../event-id.ts";
import { executionAnswer, hasEnded } from "../execute/answer.ts";
import type { Execute } from "../execute/executing.ts";
import type { Outcomes, WaitOptions } from "../execute/outcomes.ts";
import { notFound, type Problem, problem } from "../problems.ts";
import { type Known, readOn } from "../run-command.ts";
import type { Call, JsonSchema, Route } from "./route.ts";

export type ExecuteRoutesDeps = {
  readonly log: EventLog;
  readonly execute: Execute;
  readonly outcomes: Pick<Outcomes<Delivery>, "wait">;
};

type Handle = (deps: ExecuteRoutesDeps) => Route["handle"];

type Asked = {
  readonly action: string;
  readonly payload: Json;
  readonly run_id?: string;
  readonly cost_eur?: number;
  readonly wait_ms?: number;
};

/** `api.md`. */
const WAIT_MS_MAX = 30_000;
const WAIT_MS = 10_000;
/** Goes out in a header. */
const RUN_ID_LENGTH_MAX = 128;
const DEPTH = "countersign-depth";

const WAITING: JsonSchema = { type: "integer", minimum: 0, maximum: WAIT_MS_MAX };

const BODY: JsonSchema = {
  type: "object",
  required: ["action", "payload"],
  additionalProperties: false,
  properties: {
    action: { type: "string", minLength: 1, maxLength: ACTION_NAME_MAX },
    payload: { description: "Any JSON: the body that the target receives" },
    run_id: {
      type: "string",
      minLength: 1,
      maxLength: RUN_ID_LENGTH_MAX,
      pattern: "^[\\x21-\\x7e]+$",
      description: "The run that this belongs to: limits of a run count by it, and the target is told",
    },
    cost_eur: {
      type: "number",
      minimum: 0,
      maximum: EUR_MAX,
      description: "What the agent expects it to cost; counts where it is more than the action or the policy says",
    },
    wait_ms: { ...WAITING, description: `How long to wait for the end; left out: ${WAIT_MS}` },
  },
};

const STATUSES = ["queued", "retrying", "held", "delivered", "failed", "blocked", "rejected", "expired", "cancelled"];

const EXECUTION: JsonSchema = {
  type: "object",
  required: ["event_id", "status", "verdict", "cost_eur"],
  properties: {
    event_id: { type: "string" },
    status: { enum: STATUSES },
    approval_id: { type: "string", description: "Of what is or was held for people" },
    verdict: { type: ["object", "null"] },
    cost_eur: { type: ["number", "null"], description: "The estimate, and once it has ended what it has cost" },
    result: {
      type: ["object", "null"],
      required: ["status_code", "body"],
      properties: {
        status_code: { type: "integer" },
        body: {
          description:
            "Parsed where the answer is JSON that parsing does not change, else text; null once the payload was erased",
        },
        truncated: { const: true },
        encoding: { const: "base64", description: "The body is no text" },
      },
      description: "What the target answered; null when it did not",
    },
    failure: {
      type: ["object", "null"],
      required: ["kind", "detail"],
      properties: { kind: { type: "string" }, detail: { type: "string" } },
    },
  },
};

const ANSWERS = { 200: EXECUTION, 202: EXECUTION, 409: EXECUTION, 502: EXECUTION };

/** Null for an amount with more than six decimals: what cannot be counted exactly is not rounded behind the agent's back. */
const exactMicro = (eur: number): number | null => {
  const micro = microOf(eur);
  return micro !== null && eurOf(micro) === eur ? micro : null;
};

const invalid = (path: string, message: string): Problem =>
  problem("invalid-request", `${path} ${message}.`, { errors: [{ path, message }] });

const depthOf = ({ headers }: Call): number | null => {
  const given = headers[DEPTH] ?? "0";
  return /^[0-9]{1,3}$/.test(given) && Number(given) <= DEPTH_MAX ? Number(given) : null;
};

/** What is held is a person's to decide: nobody waits for that unless they ask. */
const isDecidedOrHeld = (state: Delivery): boolean => state.phase === "held" || hasEnded(state);

/** What people have said is done a moment later: until then a request that they have decided still looks held. */
const isBeingDecided = async (log: EventLog, state: Delivery): Promise<boolean> => {
  if (state.phase !== "held") return false;
  const stream = approvalStream(state.approval.approval_id);
  const { state: asked } = await readOn(log, approval, stream, { state: approval.initial, revision: null });
  return asked.phase === "requested" && asked.end !== null;
};

/** As long as it is people's to decide, nobody waits for them; behind their decision it goes on. */
const untilEndedOrHeld = async (
  { log, outcomes }: Pick<ExecuteRoutesDeps, "log" | "outcomes">,
  { eventId, known }: { readonly eventId: string; readonly known: Known<Delivery> },
  options: Omit<WaitOptions<Delivery>, "isEnough">,
): Promise<Delivery> => {
  const until = performance.now() + options.waitMs;
  const seen = await outcomes.wait(eventId, known, { ...options, isEnough: isDecidedOrHeld });
  if (!(await isBeingDecided(log, seen.state))) return seen.state;
  const waitMs = until - performance.now();
  return (await outcomes.wait(eventId, seen, { ...options, waitMs, isEnough: hasEnded })).state;
};

const execute: Handle =
  ({ log, execute, outcomes }) =>
  async (call) => {
    const { principal, envelope, key } = call;
    // The route's schema has checked the shape, and the table that there is a key.
    const { action, payload, run_id: runId = null, cost_eur, wait_ms: waitMs = WAIT_MS } = call.body as Asked;
    const costMicro = cost_eur === undefined ? null : exactMicro(cost_eur);
    if (cost_eur !== undefined && costMicro === null) return invalid("/cost_eur", "must have at most 6 decimals");
    const depth = depthOf(call);
    if (depth === null) return invalid(DEPTH, `must be a whole number from 0 to ${DEPTH_MAX}`);
    const { account, id: agentId } = principal;
    const { userAgent } = call;
    const { trace } = envelope;
    const about = { account, agentId, key: key ?? "", action, payload, runId, depth, costMicro, userAgent, trace };
    const begun = await execute(about);
    if ("problem" in begun) return begun;
    const { eventId, replayed, position } = begun;
    const state = await untilEndedOrHeld({ log, outcomes }, begun, { account, waitMs, signal: call.closing });
    const answer = await executionAnswer(log, account, eventId, state);
    return {
      ...answer,
      ...(replayed ? { headers: { ...answer.headers, "idempotent-replayed": "true" } } : {}),
      ...(position === undefined ? {} : { position }),
    };
  };

const show: Handle =
  ({ log, outcomes }) =>
  async ({ principal, params, query, closing: signal }) => {
    const { event_id: id = "" } = params;
    if (!isEventId(id)) return notFound();
    const known = await readOn(log, delivery, `delivery-${id}`, UNKNOWN);
    const { state } = known;
    const request = "request" in state ? state.request : state.phase === "undecided" ? state.last : null;
    const { kind, id: originId } = request?.origin ?? {};
    // Agents' ids are unique: another account's agent is another one.
    if (request === null || kind !== "agent" || originId !== principal.id) return notFound();
    const waitMs = Number(query.wait_ms ?? 0);
    const { account } = principal;
    const seen = await outcomes.wait(id, known, { account, isEnough: hasEnded, waitMs, signal });
    return executionAnswer(log, account, id, seen.state);
  };

const AGENTS = { agent: true } as const;

export const executeRoutes = (deps: ExecuteRoutesDeps): readonly Route[] => [
  {
    method: "POST",
    path: "/v1/execute",
    who: AGENTS,
    summary: "Have an action done, once, and wait for what its target answers",
    tag: "agents",
    headers: {
      [DEPTH]: {
        type: "string",
        description: "How many agents called each other before; what this one was called with",
      },
    },
    body: BODY,
    answers: ANSWERS,
    answersRepeats: true,
    waits: true,
    handle: execute(deps),
  },
  {
    method: "GET",
    path: "/v1/executions/{event_id}",
    who: AGENTS,
    summary: "How far an execution of this agent is",
    tag: "agents",
    query: { wait_ms: { ...WAITING, default: 0, description: "How long to wait for the end" } },
    answers: ANSWERS,
    waits: true,
    handle: show(deps),
  },
];
