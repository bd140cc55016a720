import { agent as agentDecider } from "../../domain/agent/decider.ts";
import { approval } from "../../domain/approval/decider.ts";
import type { ApprovalEvent, ApprovalRequest } from "../../domain/approval/events.ts";
import type { ApprovalOutcome } from "../../domain/approval/state.ts";
import { dataOf } from "../../domain/events.ts";
import { eurOf, eurOrNull } from "../../domain/gate/cost.ts";
import type { JsonObject } from "../../domain/json.ts";
import { programsPart } from "../../domain/personal/words.ts";
import { policy as policyDecider } from "../../domain/policy/decider.ts";
import type { RecordedEvent } from "../../domain/ports/event-log.ts";
import { agentStream } from "../accounts/credentials.ts";
import { approvalStream } from "../approvals/approvals.ts";
import type { Aggregates } from "../streams/aggregates.ts";
import { ENDPOINT_CONTENTS } from "./endpoint-contents.ts";
import type { ContentOf } from "./notification.ts";

/** Votes are left out, because their comments may repeat parts of the payload. */
const aboutApproval = (request: ApprovalRequest): JsonObject => {
  const { approval_id, subject, action, summary, digest, cost, requested_by, requested_at, expires_at } = request;
  const { kind, id, name } = requested_by;
  return {
    approval_id,
    event_id: subject.kind === "event" ? subject.id : null,
    bundle_id: subject.kind === "bundle" ? subject.id : null,
    action,
    summary,
    digest,
    cost_eur: eurOrNull(cost),
    requested_by: { kind, id, name },
    requested_at,
    expires_at,
    min_approvals: request.min_approvals,
  };
};

const asked: ContentOf = async (record) => {
  const request = dataOf("ApprovalRequested", record);
  return { type: "approval.requested", subject: request.approval_id, data: aboutApproval(request) };
};

type Ended = Exclude<ApprovalEvent["type"], "ApprovalRequested" | "VoteCast">;

const decided =
  (type: Ended, outcome: ApprovalOutcome): ContentOf =>
  async (record, aggregates) => {
    const end = dataOf(type, record);
    const { state } = await aggregates.load(approval, approvalStream(end.approval_id), 0);
    if (state.phase === "absent") return null;
    // An erasure of a person's words does not reach the payload of a notification.
    const reason = "reason" in end ? programsPart(end.reason) : null;
    const data = { ...aboutApproval(state.request), outcome, reason, decided_at: end.at };
    return { type: "approval.decided", subject: end.approval_id, data };
  };

/** The subject contains the record's revision, because an agent can be suspended repeatedly. */
const agentSubject = (agentId: string, { revision }: RecordedEvent): string => `${agentId}/${revision}`;

/** The agent's name; null once the agent is deleted. */
const nameOf = async (aggregates: Pick<Aggregates, "load">, agentId: string): Promise<string | null> => {
  const { state } = await aggregates.load(agentDecider, agentStream(agentId));
  return state.phase === "present" ? state.settings.name : null;
};

const suspended: ContentOf = async (record, aggregates) => {
  const { agent_id, at: suspended_at } = dataOf("AgentSuspended", record);
  const data = { agent_id, name: await nameOf(aggregates, agent_id), suspended_at };
  return { type: "agent.suspended", subject: agentSubject(agent_id, record), data };
};

const resumed: ContentOf = async (record, aggregates) => {
  const { agent_id, at: resumed_at } = dataOf("AgentResumed", record);
  const data = { agent_id, name: await nameOf(aggregates, agent_id), resumed_at };
  return { type: "agent.resumed", subject: agentSubject(agent_id, record), data };
};

const DAY_LEDGER = /^ledger-(pol_[a-z2-7]+)-(\d{4}-\d{2}-\d{2})$/;

const thresholdReached: ContentOf = async (record, aggregates) => {
  const [, policyId, day] = DAY_LEDGER.exec(record.stream) ?? [];
  if (policyId === undefined || day === undefined) return null;
  const { threshold, used, limit } = dataOf("BudgetThresholdReached", record);
  const { state } = await aggregates.load(policyDecider, `policy-${policyId}`);
  const data = {
    policy_id: policyId,
    name: state.phase === "published" ? state.definition.name : null,
    day,
    threshold_percent: threshold,
    used_eur: eurOf(used),
    budget_eur_day: eurOf(limit),
  };
  return { type: "budget.threshold", subject: `${policyId}/${day}/${threshold}`, data };
};

export const CONTENTS: ReadonlyMap<string, ContentOf> = new Map<string, ContentOf>([
  ...ENDPOINT_CONTENTS,
  ["ApprovalRequested", asked],
  ["ApprovalGranted", decided("ApprovalGranted", "approved")],
  ["ApprovalRejected", decided("ApprovalRejected", "rejected")],
  ["ApprovalExpired", decided("ApprovalExpired", "expired")],
  ["ApprovalCancelled", decided("ApprovalCancelled", "cancelled")],
  ["ApprovalVoided", decided("ApprovalVoided", "void")],
  ["AgentSuspended", suspended],
  ["AgentResumed", resumed],
  ["BudgetThresholdReached", thresholdReached],
]);
