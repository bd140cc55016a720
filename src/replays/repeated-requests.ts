import { action as actionDecider } from "../../domain/action/decider.ts";
import { agent as agentDecider } from "../../domain/agent/decider.ts";
import { inScope } from "../../domain/agent/scope.ts";
import type { Replay, Request } from "../../domain/delivery/events.ts";
import type { Json } from "../../domain/json.ts";
import type { EventLog } from "../../domain/ports/event-log.ts";
import { source as sourceDecider } from "../../domain/source/decider.ts";
import { agentStream } from "../accounts/credentials.ts";
import { agentSuspended } from "../execute/active-agent.ts";
import { actionDigest } from "../execute/digest.ts";
import type { CompiledActions } from "../gates/compiled-action.ts";
import { type AgentRequest, BodyContent, type IncomingRequest, jsonOf } from "../gates/incoming-request.ts";
import { actionStream } from "../streams/action-stream.ts";
import type { Aggregates } from "../streams/aggregates.ts";
import type { Trace } from "../streams/envelope.ts";
import { payloadDamaged } from "../streams/payload-damage.ts";
import { keptPayload } from "../streams/payload-ref.ts";
import type { Payloads, ReadPayload } from "../streams/payloads.ts";
import { type Problem, payloadNotKept, problem } from "../streams/problems.ts";
import { conflict } from "./replay-problems.ts";

export type RepeatedRequestsDeps = {
  readonly log: Pick<EventLog, "read">;
  readonly aggregates: Pick<Aggregates, "load">;
  readonly payloads: Pick<Payloads, "read">;
  readonly actions: CompiledActions;
  readonly digestKey: Uint8Array;
};

/** Makes a stored request anew as if its sender had sent it again; a problem if that is impossible. */
export type RepeatedRequests = (
  request: Request,
  about: {
    readonly account: string;
    readonly replay: Replay;
    readonly trace: Trace;
    readonly askedAt: number;
  },
) => Promise<IncomingRequest | Problem>;

type Sender = Pick<IncomingRequest, "origin" | "policyId" | "endpointId" | "asked" | "isStrict">;

export const repeatedRequests = ({
  log,
  aggregates,
  payloads,
  actions,
  digestKey,
}: RepeatedRequestsDeps): RepeatedRequests => {
  const sentBySource = async ({ origin: { id, type } }: Request, account: string): Promise<Sender | Problem> => {
    const { state } = await aggregates.load(sourceDecider, `source-${id}`);
    if (state.phase !== "present" || state.account !== account) {
      return conflict("Its source was deleted, and with it the policy that it has to pass.", "source-deleted");
    }
    const { name, policy_id: policyId, endpoint_id: endpointId, status } = state.settings;
    if (status === "paused") {
      return problem("source-paused", "The source is paused: nothing is accepted until it is active again.");
    }
    return { origin: { kind: "source", id, name, type }, policyId, endpointId, asked: null, isStrict: false };
  };

  const askedByAgent = async (
    { origin: { id }, action: asked, run, type: name, cost }: Request,
    account: string,
    payload: Json,
  ): Promise<Sender | Problem> => {
    const [{ state: agent }, { state: action }] = await Promise.all([
      aggregates.load(agentDecider, agentStream(id)),
      aggregates.load(actionDecider, actionStream(account, name)),
    ]);
    if (agent.phase !== "present" || agent.account !== account)
      return conflict("The agent was deleted.", "agent-deleted");
    if (agent.suspended !== null) return agentSuspended(log, account, agent.suspended);
    if (asked === undefined || run === undefined || action.phase !== "defined") {
      return problem("unknown-action", `The account no longer has an action ${JSON.stringify(name)}.`);
    }
    const { version } = action;
    const { endpoint_id: target } = action.definition;
    const digest = actionDigest(digestKey, { account, agent: id, action: name, version, target, payload });
    const again: AgentRequest = {
      action: { name, version, digest },
      run,
      isInScope: inScope(agent.settings.scope, name),
      compiled: actions.get(action),
      // The agent's own estimate is stored only as part of the recorded cost, which counts if it is the higher one.
      costMicro: cost,
    };
    const origin = { kind: "agent", id, name: agent.settings.name, type: "agent" } as const;
    return { origin, policyId: agent.settings.policy_id, endpointId: target, asked: again, isStrict: true };
  };

  const senderOf = (request: Request, account: string, { body }: ReadPayload): Promise<Sender | Problem> =>
    request.origin.kind === "agent"
      ? // The payload of an agent's request is stored as JSON.
        askedByAgent(request, account, jsonOf(body) as Json)
      : sentBySource(request, account);

  return async (request, { account, replay, trace, askedAt }) => {
    const { head, size } = request.payload;
    if (head !== undefined) return payloadNotKept(head.size, size);
    const kept = await payloads.read(request.event_id, request.payload);
    if (kept === "damaged") return payloadDamaged();
    if (kept === null) return conflict("Its payload was erased, so there is nothing to send.", "payload-erased");
    const sender = await senderOf(request, account, kept);
    if ("problem" in sender) return sender;
    const { body, headers } = kept;
    const { json } = new BodyContent(body);
    return {
      ...sender,
      eventId: request.event_id,
      account,
      deliveryKey: request.delivery_key,
      eventType: request.type,
      body,
      contentType: request.payload.content_type,
      contentEncoding: request.payload.content_encoding ?? "",
      json,
      // Secrets and signatures are not stored, so conditions see them redacted.
      headers,
      shownHeaders: () => headers,
      trace,
      sample: request.sample,
      receivedAt: Date.parse(request.received_at),
      authenticatedAt: Date.parse(request.authenticated_at),
      replay,
      askedAt,
      kept: keptPayload(request.payload),
    };
  };
};
