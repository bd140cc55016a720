import {
  ATTR_ERROR_TYPE,
  ATTR_HTTP_REQUEST_METHOD,
  ATTR_HTTP_REQUEST_RESEND_COUNT,
  ATTR_HTTP_RESPONSE_STATUS_CODE,
} from "@opentelemetry/semantic-conventions";
import type { BundleEvent, BundleRequest } from "../../domain/bundle/events.ts";
import { defined } from "../../domain/defined.ts";
import type { Failure } from "../../domain/delivery/attempt-end.ts";
import type { Request } from "../../domain/delivery/events.ts";
import type { GateResult, Verdict } from "../../domain/gate/verdict.ts";
import type { SpanAttributes as Attributes, SpanEvent } from "../../domain/ports/span-exporter.ts";

/**
 * The names follow OpenTelemetry's semantic conventions 1.45, of which `gen_ai.*` is in development. Addresses, free
 * text and a gate's detail are left out, because they may quote the payload.
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
  ...defined({
    "countersign.observed": observed,
    "countersign.policy.id": policy?.id,
    "countersign.policy.version": policy?.version,
  }),
});

/** Micro-euros are whole numbers, so that the attribute always has OTLP's integer type. */
const costAttributes = (cost: number | null): Attributes =>
  defined({ "countersign.cost.micro_eur": cost ?? undefined });

const agentAttributes = ({ id, name }: Request["origin"], run: Request["run"]): Attributes => ({
  [GEN_AI.agentId]: id,
  [GEN_AI.agentName]: name,
  ...defined({ [GEN_AI.conversation]: run?.id ?? undefined }),
});

export const executionSpan = (request: Request): { readonly name: string; readonly attributes: Attributes } => {
  const { event_id, origin, type, action, run, bundle, payload, endpoint_id, verdict, cost, replay } = request;
  const common: Attributes = {
    "countersign.event.id": event_id,
    "countersign.event.type": type,
    "countersign.payload.size": payload.size,
    ...defined({ "countersign.endpoint.id": endpoint_id ?? undefined }),
    ...(bundle === undefined
      ? {}
      : {
          "countersign.bundle.id": bundle.id,
          "countersign.bundle.step": bundle.index,
          "countersign.bundle.undo": bundle.undo,
        }),
    ...(replay === undefined ? {} : replaySpan(replay.id).attributes),
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
      ...defined({ "countersign.action.version": action?.version }),
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

export const gateSpan = ({ gate, outcome, code }: GateResult) => ({
  name: `gate ${gate}`,
  attributes: {
    "countersign.gate.name": gate,
    "countersign.gate.outcome": outcome,
    "countersign.gate.code": code,
  } satisfies Attributes,
});

export const denialOf = ({ gate, outcome, code }: GateResult): string | null =>
  outcome === "deny" ? `${gate}: ${code}` : null;

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
    ...defined({
      [ATTR_HTTP_REQUEST_RESEND_COUNT]: number > 1 ? number - 1 : undefined,
      [ATTR_HTTP_RESPONSE_STATUS_CODE]: statusCode ?? undefined,
      [ATTR_ERROR_TYPE]: failure === null ? undefined : (statusCode?.toString() ?? failure.kind),
    }),
    "countersign.attempt": number,
    "countersign.attempt.trigger": trigger,
    "countersign.endpoint.id": endpointId,
  } satisfies Attributes,
});

export const replaySpan = (replayId: string) => ({
  name: "replay",
  attributes: { "countersign.replay.id": replayId } satisfies Attributes,
});

export const holdSpan = (approvalId: string) => ({
  name: "hold for approval",
  attributes: { "countersign.approval.id": approvalId } satisfies Attributes,
});

export const END_UNKNOWN = "its end is unknown";

export const voteEvent = (member: string, decision: string) => ({
  name: decision,
  attributes: { "countersign.member.id": member } satisfies Attributes,
});

const stepEvent = (name: string, { index, at }: { index: number; at: string }, more: Attributes = {}): SpanEvent => ({
  name,
  atMs: Date.parse(at),
  attributes: { "countersign.bundle.step": index, ...more },
});

export const bundleSpanEvent = (event: BundleEvent): SpanEvent | null => {
  switch (event.type) {
    case "RollbackStarted":
      return { name: "rollback started", atMs: Date.parse(event.data.at), attributes: {} };
    case "StepRefused":
      return stepEvent("step refused", event.data, { "countersign.bundle.refusal": event.data.code });
    case "StepEnded":
      return stepEvent("step ended", event.data, { "countersign.bundle.outcome": event.data.outcome });
    case "StepUndone":
      return stepEvent("step undone", event.data, { "countersign.bundle.outcome": event.data.outcome });
    case "StepResolved":
      return stepEvent("step resolved by hand", event.data);
    case "BundlePayloadErased":
      return { name: "payload erased", atMs: Date.parse(event.data.at), attributes: {} };
    case "BundlePayloadDamageFound":
      return { name: "payload damage found", atMs: Date.parse(event.data.at), attributes: {} };
    default:
      return null;
  }
};
