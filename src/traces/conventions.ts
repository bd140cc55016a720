import {
  ATTR_ERROR_TYPE,
  ATTR_HTTP_REQUEST_METHOD,
  ATTR_HTTP_REQUEST_RESEND_COUNT,
  ATTR_HTTP_RESPONSE_STATUS_CODE,
} from "@opentelemetry/semantic-conventions";
import type { BundleRequest } from "../../domain/bundle/events.ts";
import type { Failure, Request } from "../../domain/delivery/events.ts";
import { eurOf } from "../../domain/gate/cost.ts";
import type { GateResult, Verdict } from "../../domain/gate/verdict.ts";
import type { SpanAttributes as Attributes } from "../../domain/ports.ts";

/**
 * What is recorded, in the words of OpenTelemetry's semantic conventions 1.45, where they have words: `http.*` for attempts,
 * `gen_ai.*` (still in development, so named here) for what agents ask for. The rest is `countersign.*`. Nothing of a
 * payload, and no address.
 */
const GEN_AI = {
  operation: "gen_ai.operation.name",
  tool: "gen_ai.tool.name",
  toolType: "gen_ai.tool.type",
  callId: "gen_ai.tool.call.id",
  agentId: "gen_ai.agent.id",
  agentName: "gen_ai.agent.name",
  conversation: "gen_ai.conversation.id",
} as const;

const verdictAttributes = ({ decision, policy, observed }: Verdict): Attributes => ({
  "countersign.decision": decision,
  ...(observed === true ? { "countersign.observed": true } : {}),
  ...(policy === null ? {} : { "countersign.policy.id": policy.id, "countersign.policy.version": policy.version }),
});

const costAttributes = (cost: number | null): Attributes =>
  cost === null ? {} : { "countersign.cost_eur": eurOf(cost) };

const agentAttributes = ({ id, name }: Request["origin"], run: Request["run"]): Attributes => ({
  [GEN_AI.agentId]: id,
  [GEN_AI.agentName]: name,
  ...(run === undefined || run.id === null ? {} : { [GEN_AI.conversation]: run.id }),
});

/** The name and the attributes of the span that stands for one event from its arrival to its end. */
export const executionSpan = (request: Request): { readonly name: string; readonly attributes: Attributes } => {
  const { event_id, origin, type, action, run, bundle, payload, endpoint_id, verdict, cost } = request;
  const common: Attributes = {
    "countersign.event.id": event_id,
    "countersign.event.type": type,
    "countersign.payload.size": payload.size,
    ...(endpoint_id === null ? {} : { "countersign.endpoint.id": endpoint_id }),
    ...(bundle === undefined
      ? {}
      : {
          "countersign.bundle.id": bundle.id,
          "countersign.bundle.step": bundle.index,
          "countersign.bundle.undo": bundle.undo,
        }),
    ...verdictAttributes(verdict),
    ...costAttributes(cost),
  };
  if (origin.kind === "agent") {
    const tool = {
      [GEN_AI.operation]: "execute_tool",
      [GEN_AI.tool]: type,
      [GEN_AI.toolType]: "function",
      [GEN_AI.callId]: event_id,
      ...agentAttributes(origin, run),
      ...(action === undefined ? {} : { "countersign.action.version": action.version }),
    };
    return { name: `execute_tool ${type}`, attributes: { ...tool, ...common } };
  }
  if (origin.kind === "system") return { name: `notify ${type}`, attributes: common };
  const source = { "countersign.source.id": origin.id, "countersign.source.type": origin.type };
  return { name: `ingest ${origin.type}`, attributes: { ...source, ...common } };
};

export const bundleSpan = ({ bundle_id, origin, run, steps, verdict, cost }: BundleRequest) => ({
  name: "execute_bundle",
  attributes: {
    "countersign.bundle.id": bundle_id,
    "countersign.bundle.steps": steps.length,
    ...agentAttributes(origin, run),
    ...verdictAttributes(verdict),
    ...costAttributes(cost),
  } satisfies Attributes,
});

export const gateSpan = ({ gate, outcome, code, detail }: GateResult) => ({
  name: `gate ${gate}`,
  attributes: {
    "countersign.gate": gate,
    "countersign.gate.outcome": outcome,
    "countersign.gate.code": code,
    "countersign.gate.detail": detail,
  } satisfies Attributes,
});

export type AttemptAbout = {
  readonly number: number;
  readonly endpointId: string;
  readonly trigger: string;
  readonly statusCode: number | null;
  readonly failure: Failure | null;
};

export const attemptSpan = ({ number, endpointId, trigger, statusCode, failure }: AttemptAbout) => ({
  name: "POST",
  attributes: {
    [ATTR_HTTP_REQUEST_METHOD]: "POST",
    ...(number > 1 ? { [ATTR_HTTP_REQUEST_RESEND_COUNT]: number - 1 } : {}),
    ...(statusCode === null ? {} : { [ATTR_HTTP_RESPONSE_STATUS_CODE]: statusCode }),
    ...(failure === null ? {} : { [ATTR_ERROR_TYPE]: statusCode === null ? failure.kind : String(statusCode) }),
    "countersign.attempt": number,
    "countersign.attempt.trigger": trigger,
    "countersign.endpoint.id": endpointId,
  } satisfies Attributes,
});

export const holdSpan = (approvalId: string) => ({
  name: "hold for approval",
  attributes: { "countersign.approval.id": approvalId } satisfies Attributes,
});

export const voteEvent = (member: string, decision: string) => ({
  name: decision,
  attributes: { "countersign.member.id": member } satisfies Attributes,
});
