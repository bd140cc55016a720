import type { DefinedAction } from "../../domain/action/decider.ts";
import type { PresentAgent } from "../../domain/agent/decider.ts";
import { inScope } from "../../domain/agent/scope.ts";
import { delivery } from "../../domain/delivery/decider.ts";
import type { Request } from "../../domain/delivery/events.ts";
import { type Delivery, isClaimed, requestOf } from "../../domain/delivery/state.ts";
import { isActionName } from "../../domain/evidence/action-name.ts";
import { canonicalJson } from "../../domain/evidence/canonical-json.ts";
import type { Json } from "../../domain/json.ts";
import type { Position } from "../../domain/ports/event-log.ts";
import { type ClaimDeps, claiming } from "../admission/claim-event.ts";
import { denialProblem } from "../admission/denial-problem.ts";
import { singleFlight } from "../admission/single-flight.ts";
import { approvalRequests } from "../approvals/approval-requests.ts";
import type { CompiledActions } from "../gates/compiled-action.ts";
import type { AgentRequest, IncomingRequest } from "../gates/incoming-request.ts";
import { meter } from "../gates/meter.ts";
import type { Trace } from "../streams/envelope.ts";
import { eventIdOf } from "../streams/event-id.ts";
import { type Problem, problem } from "../streams/problems.ts";
import { foldStream, type StreamState } from "../streams/run-command.ts";
import { actionNamed, activeAgent, unknownAction } from "./active-agent.ts";
import { actionDigest } from "./digest.ts";

export type ExecuteDeps = ClaimDeps & { readonly actions: CompiledActions };

export type ExecuteRequest = {
  readonly account: string;
  readonly agentId: string;
  readonly key: string;
  readonly action: string;
  readonly payload: Json;
  readonly runId: string | null;
  /** The number of agents that called each other before this one. */
  readonly depth: number;
  readonly costMicro: number | null;
  readonly userAgent: string;
  readonly trace: Trace;
};

type ExecutionStart = {
  readonly eventId: string;
  readonly known: StreamState<Delivery>;
  readonly replayed: boolean;
  /** The position of the last record that the answer rests on, which may be the approval's. */
  readonly position: Position | undefined;
};

export type Execute = (request: ExecuteRequest) => Promise<ExecutionStart | Problem>;

const reused = (eventId: string): Problem =>
  problem("idempotency-key-reused", "This Idempotency-Key was used with a different action or payload before.", {
    extra: { event_id: eventId },
  });

/** The recorded version is compared, so that a new version of the action does not change a repeat. */
const isRepeatOf = (key: Uint8Array, request: ExecuteRequest, { action, endpoint_id: target }: Request): boolean => {
  if (action === undefined) return false;
  const { account, agentId: agent, payload } = request;
  const identity = { account, agent, action: request.action, version: action.version, target, payload };
  return actionDigest(key, identity) === action.digest;
};

/** What a request needs of an action's definition. */
type Definition = Pick<AgentRequest, "compiled"> & {
  readonly version: number;
  /** The endpoint; null without a definition. */
  readonly target: string | null;
};

/**
 * A request outside of the agent's scope is refused as one, and is among the figures of its gate, whether or not there
 * is such an action: the agent does not learn which actions exist. No definition has this version.
 */
const UNDEFINED: Definition = {
  version: 0,
  target: null,
  compiled: { work: meter(), schema: null, schemaText: null, cost: null, policyId: null },
};

const definitionOf = (action: DefinedAction, actions: CompiledActions): Definition => ({
  version: action.version,
  target: action.definition.endpoint_id,
  compiled: actions.get(action),
});

type RequestContext = Pick<IncomingRequest, "eventId" | "receivedAt"> &
  Pick<AgentRequest, "isInScope"> & { readonly definition: Definition; readonly digestKey: Uint8Array };

const incomingRequest = (
  { account, agentId, key, action: name, payload, runId, depth, costMicro, userAgent, trace }: ExecuteRequest,
  { settings }: PresentAgent,
  { digestKey, eventId, receivedAt, definition: { version, target, compiled }, isInScope }: RequestContext,
): IncomingRequest => {
  const digest = actionDigest(digestKey, { account, agent: agentId, action: name, version, target, payload });
  return {
    eventId,
    account,
    origin: { kind: "agent", id: agentId, name: settings.name, type: "agent" },
    policyId: settings.policy_id,
    endpointId: target,
    deliveryKey: key,
    eventType: name,
    body: Buffer.from(JSON.stringify(payload)),
    contentType: "application/json",
    contentEncoding: "",
    json: () => payload,
    isStrict: true,
    headers: { "user-agent": userAgent },
    shownHeaders: () => ({ "user-agent": userAgent }),
    trace,
    receivedAt,
    authenticatedAt: receivedAt,
    asked: { action: { name, version, digest }, run: { id: runId, depth }, isInScope, compiled, costMicro },
  };
};

/** The key names the event, as a delivery id names a webhook's, so a repeat finds the first request. */
export const executing = (deps: ExecuteDeps): Execute => {
  const { log, clock, aggregates } = deps;
  const claim = claiming(deps);
  const approvals = approvalRequests(deps);
  const decideOnce = singleFlight<string, ExecutionStart | Problem>();

  /** The answer that an earlier request with the key gives; null if no such request was claimed. */
  const before = async (
    request: ExecuteRequest,
    eventId: string,
    known: StreamState<Delivery>,
  ): Promise<ExecutionStart | Problem | null> => {
    const { state } = known;
    const recorded = requestOf(state);
    if (recorded !== null && !isRepeatOf(deps.digestKey, request, recorded)) return reused(eventId);
    if (!isClaimed(state)) return null;
    const position = await approvals.recorded(`delivery-${eventId}`, known);
    return { eventId, known, replayed: true, position };
  };

  const begin = async (
    request: ExecuteRequest,
    agent: PresentAgent,
    eventId: string,
  ): Promise<ExecutionStart | Problem> => {
    const receivedAt = clock.now();
    const from = await foldStream(log, delivery, `delivery-${eventId}`);
    const earlier = await before(request, eventId, from);
    if (earlier !== null) return earlier;

    const { account, action: name } = request;
    const action = await actionNamed(aggregates, account, name);
    const isInScope = inScope(agent.settings.scope, name);
    const isDefined = action.phase === "defined";
    if (!isDefined && (isInScope || !isActionName(name))) return unknownAction(name, isInScope);
    const definition = isDefined ? definitionOf(action, deps.actions) : UNDEFINED;
    const { digestKey } = deps;
    const claimed = await claim(
      incomingRequest(request, agent, { digestKey, eventId, receivedAt, definition, isInScope }),
      from,
    );
    if (claimed.outcome === "denied") return denialProblem({ event_id: eventId }, claimed.judged);
    const { known } = claimed;
    if (claimed.outcome === "claimed") return { eventId, known, replayed: false, position: claimed.position };
    return (await before(request, eventId, known)) ?? reused(eventId);
  };

  return async (request) => {
    const { account, agentId } = request;
    const agent = await activeAgent(deps, agentId);
    if ("problem" in agent) return agent;
    const eventId = eventIdOf(account, agentId, request.key);
    const asked = canonicalJson([request.action, request.payload]);
    const { landed, isFirst } = await decideOnce(eventId, asked, () => begin(request, agent, eventId));
    return isFirst || "problem" in landed ? landed : { ...landed, replayed: true };
  };
};
