import { action as actionDecider } from "../../../domain/action/decider.ts";
import type { Vote } from "../../../domain/approval/events.ts";
import { isOverdue, mayApprove, type RequestedApproval } from "../../../domain/approval/state.ts";
import { bundleTitleOf } from "../../../domain/approval/summary.ts";
import { dayIn } from "../../../domain/calendar.ts";
import type { Bound, RequestedAction } from "../../../domain/delivery/events.ts";
import { eurOf, eurOrNull, MICRO_PER_EUR } from "../../../domain/gate/cost.ts";
import type { Words } from "../../../domain/personal/words.ts";
import { policy as policyDecider } from "../../../domain/policy/decider.ts";
import type { Clock } from "../../../domain/ports/clock.ts";
import type { ViewStore } from "../../../domain/ports/view-store.ts";
import { type ApprovalDocument, approvals } from "../../../projections/approvals.ts";
import type { EventDocument } from "../../../projections/event-document.ts";
import { events } from "../../../projections/events.ts";
import { UNFINISHED } from "../../../projections/stats-totals.ts";
import type { Labels, VisibleFields } from "../../bodies/approval-fields.ts";
import { directBodyReader } from "../../bodies/body-reader.ts";
import type { CallCounts } from "../../calls/call-counts.ts";
import { type Call, calledBy, type Handler, hasRole, type Principal } from "../../http/route.ts";
import type { Ledgers } from "../../ledgers/ledgers.ts";
import { dayLedger } from "../../ledgers/policy-days.ts";
import { actionStream } from "../../streams/action-stream.ts";
import { notFound, type Problem } from "../../streams/problems.ts";
import { pageIn } from "../../views/typed-documents.ts";
import { seesHidden } from "../events/hidden-fields.ts";
import { policyStream } from "../policies/policies.ts";
import { type DetailDeps, ownApproval, shownOf } from "./approval-detail.ts";
import { mayReveal } from "./approval-reveal.ts";
import { stepAnswers } from "./approval-steps.ts";
import { type ApprovalSubject, endpointWithTarget } from "./approval-target.ts";

export type ContextDeps = DetailDeps & {
  readonly views: Pick<ViewStore, "page">;
  readonly ledgers: Pick<Ledgers, "figures">;
  readonly timeZoneOf: (account: string) => Promise<string>;
  readonly clock: Clock;
  readonly calls: Pick<CallCounts, "payloadRead">;
};

/** How many used approvals are searched for one of the same action and agent. */
const PREVIOUS_MAX = 200;
const LAST_MAX = 10;
/** How many of an agent's requests of the day are counted. */
const TODAY_MAX = 200;

type Shown = Awaited<ReturnType<typeof shownOf>>;

/** The labels of the version to which the approval is bound; if it was redefined, the approval is void anyway. */
const labelsOf = async (
  { aggregates }: ContextDeps,
  account: string,
  { action, bound }: { readonly action?: Pick<RequestedAction, "name">; readonly bound?: Bound },
): Promise<Labels> => {
  if (action === undefined) return {};
  const { state } = await aggregates.load(actionDecider, actionStream(account, action.name));
  return state.phase === "defined" && state.version === bound?.action_version ? (state.definition.labels ?? {}) : {};
};

const allLabels = (deps: ContextDeps, account: string, subject: ApprovalSubject): Promise<readonly Labels[]> => {
  const asked = subject.asked === null ? [] : subject.kind === "bundle" ? subject.asked.steps : [subject.asked];
  return Promise.all(asked.map((it) => labelsOf(deps, account, it)));
};

const fieldsOf = async (
  deps: ContextDeps,
  account: string,
  { subject, order }: Shown,
): Promise<VisibleFields | Problem> => {
  const { bodyReader = directBodyReader } = deps;
  const asked = { ...order, labels: await allLabels(deps, account, subject) };
  return bodyReader.busy(account, "fields", asked) ?? bodyReader.run(account, "fields", asked);
};

/** An admin's read of hidden fields is recorded. */
export const recordRead = async (
  { log, calls }: Pick<ContextDeps, "log" | "calls">,
  call: Call,
  { state }: ApprovalSubject,
  approvalId: string,
): Promise<void> => {
  if ("request" in state && state.request !== null && (await seesHidden(log, state.request, call.principal)))
    calls.payloadRead(calledBy(call), approvalId);
};

type Used = { readonly id: string; readonly document: ApprovalDocument };

const decidedAt = ({ document }: Used): number => Date.parse(document.decided_at ?? document.requested_at);

/**
 * The approval of the same action and agent that was granted and used last, as this reader may see it. Of a decided
 * approval, the last before its decision: what its approvers had before them.
 */
const previousOf = async (deps: ContextDeps, it: RequestedApproval, call: Call) => {
  const { principal, envelope } = call;
  const { account, action, requested_by, approval_id } = it.request;
  if (action === null) return null;
  const until = it.end === null ? envelope.at : it.end.at;
  const where = [
    { field: "account", is: "=", value: account },
    { field: "status", is: "=", value: "consumed" },
    { field: "requested_at", is: "<=", value: until },
  ] as const;
  const sort = { field: "requested_at", order: "desc" } as const;
  const found = await pageIn<ApprovalDocument>(deps.views, approvals, { where, sort, limit: PREVIOUS_MAX });
  // One that was asked for later may have been decided before.
  const [same] = found
    .filter(({ id, document }) => id !== approval_id && document.action === action)
    .filter(({ document }) => document.requested_by.id === requested_by.id)
    .filter((used) => decidedAt(used) <= Date.parse(until))
    .toSorted((a, b) => decidedAt(b) - decidedAt(a));
  if (same === undefined) return null;
  const before = await ownApproval(deps, { principal, params: { id: same.id } });
  if (before === null) return null;
  const shown = await shownOf(deps, before, { principal, at: envelope.at });
  const read = await fieldsOf(deps, account, shown);
  if (!("problem" in read)) await recordRead(deps, call, shown.subject, same.id);
  const fields = "problem" in read ? null : read.fields;
  return { approval_id: same.id, decided_at: same.document.decided_at, fields };
};

const undoOf = async ({ aggregates }: ContextDeps, account: string, { kind, asked }: ApprovalSubject) => {
  if (asked === null) return null;
  if (kind === "bundle") {
    const kinds = asked.steps.map(({ reversibility }) => reversibility);
    const reversibility = (["irreversible", "compensable"] as const).find((it) => kinds.includes(it)) ?? "reversible";
    return { reversibility, action: null, endpoint: null };
  }
  if (asked.action === undefined) return null;
  const { state } = await aggregates.load(actionDecider, actionStream(account, asked.action.name));
  if (state.phase !== "defined") return null;
  const { reversibility, compensation = null } = state.definition;
  const undo =
    compensation === null ? null : (await aggregates.load(actionDecider, actionStream(account, compensation))).state;
  const endpoint =
    undo?.phase === "defined" ? await endpointWithTarget(aggregates, undo.definition.endpoint_id, undefined) : null;
  return { reversibility, action: compensation, endpoint };
};

/** In the ledger in which the request has its place, or today's: what is spent, set aside, and both after an approval. */
const budgetOf = async (deps: ContextDeps, it: RequestedApproval, { kind, asked }: ApprovalSubject) => {
  const { account, policy, cost } = it.request;
  if (policy === null) return null;
  const { state } = await deps.aggregates.load(policyDecider, policyStream(policy.id));
  if (state.phase !== "published") return null;
  const today = dayLedger(policy.id, dayIn(await deps.timeZoneOf(account), deps.clock.now()));
  const places = kind === "event" && asked !== null ? (asked.ledgers ?? []) : [];
  const own = places.find((ledger) => ledger.startsWith(`ledger-${policy.id}-`));
  const { reserved, settled } = await deps.ledgers.figures(own ?? today, account);
  const { budget_eur_day: ceiling = null } = state.definition;
  // A request without a place takes one when it is released.
  const after = settled + reserved + (own === undefined ? (cost ?? 0) : 0);
  return {
    settled: eurOf(settled),
    reserved: eurOf(reserved),
    after: eurOf(after),
    ceiling: ceiling === null ? null : eurOf(Math.round(ceiling * MICRO_PER_EUR)),
  };
};

const agentOf = async ({ views, timeZoneOf, clock }: ContextDeps, it: RequestedApproval) => {
  const { account, requested_by: by } = it.request;
  if (by.kind !== "agent") return null;
  const where = [
    { field: "account", is: "=", value: account },
    { field: "origin_id", is: "=", value: by.id },
  ] as const;
  const sort = { field: "received_at", order: "desc" } as const;
  const found = await pageIn<EventDocument>(views, events, { where, sort, limit: TODAY_MAX });
  const zone = await timeZoneOf(account);
  const day = dayIn(zone, clock.now());
  const today = found.filter(({ document }) => dayIn(zone, Date.parse(document.received_at)) === day);
  const count = (...statuses: readonly string[]): number =>
    today.filter(({ document }) => statuses.includes(document.status)).length;
  const costs = today.filter(({ document }) => document.status !== "blocked");
  const sum = (of: typeof costs): number => of.reduce((all, { document: { cost } }) => all + (cost ?? 0), 0);
  const reserved = sum(costs.filter(({ document }) => UNFINISHED.has(document.status)));
  return {
    id: by.id,
    today: {
      requests: today.length,
      delivered: count("delivered"),
      refused: count("blocked"),
      rejected: count("rejected"),
      failed: count("failed"),
      cost_eur: eurOf(sum(costs)),
      spent_eur: eurOf(sum(costs) - reserved),
      reserved_eur: eurOf(reserved),
      more: today.length === TODAY_MAX,
    },
    last: found.slice(0, LAST_MAX).map(({ id, document: { type, status, cost, received_at } }) => ({
      event_id: id,
      action: type,
      status,
      cost_eur: eurOrNull(cost),
      received_at,
    })),
  };
};

const hasVoted = (votes: readonly Vote[], member: string): boolean =>
  votes.some(({ member_id, decision }) => member_id === member && decision === "approve");

/** Whether this reader's approval would count, and if not, why. */
const eligibleOf = ({ request, votes, end }: RequestedApproval, principal: Principal, at: string) => {
  const no = (why: string) => ({ can: false, why });
  if (end !== null) return no(`Nothing is left to decide: it was ${end.outcome} at ${end.at}.`);
  if (isOverdue(request, at)) return no("It has expired.");
  if (principal.kind !== "member") return no("Only a person with a session decides.");
  if (!hasRole(principal, "approver")) return no("It takes the role approver.");
  if (!mayApprove(request, principal.id)) return no("You asked for this, so another person has to decide.");
  return hasVoted(votes, principal.id) ? no("You have approved it already.") : { can: true, why: null };
};

/** Whether this reader may have the hidden fields shown: some are hidden from them, and the policies name their role. */
const revealOf = async ({ log }: ContextDeps, { subject, order, summary }: Shown, { principal }: Call) =>
  summary.status === "pending" && order.hidden.length > 0 && (await mayReveal(log, subject, principal));

const stepsOf = async (deps: ContextDeps, { kind, asked }: ApprovalSubject, titles: VisibleFields["titles"]) =>
  kind !== "bundle" || asked === null
    ? null
    : (await stepAnswers(deps.aggregates, asked)).map((step, index) => ({ ...step, title: titles[index] ?? null }));

const bundleTitle = ({ kind, asked }: ApprovalSubject): string | null =>
  kind === "bundle" && asked !== null ? bundleTitleOf(asked) : null;

/** The reason that came with a change, such as a new version of a policy; null if none did, or once it was decided. */
const proposalOf = async ({ personal }: ContextDeps, account: string, { kind, state }: ApprovalSubject) => {
  if (kind !== "change" || state.phase !== "held") return null;
  const { reason } = state.held.command;
  if (typeof reason !== "object" || reason === null || !("commitment" in reason)) return null;
  // A command has the commitment to a person's words in this one form.
  return personal.shown(reason as Words, account);
};

export const context =
  (deps: ContextDeps): Handler<{ params: "id" }> =>
  async (call) => {
    const { principal, envelope } = call;
    const it = await ownApproval(deps, call);
    if (it === null) return notFound();
    const { account, approval_id } = it.request;
    const { at } = envelope;
    const shown = await shownOf(deps, it, { principal, at });
    const { subject, summary } = shown;
    const read = await fieldsOf(deps, account, shown);
    if ("problem" in read) return read;
    await recordRead(deps, call, subject, approval_id);
    const body = {
      id: approval_id,
      status: summary.status,
      title: read.title ?? bundleTitle(subject) ?? summary.summary,
      fields: read.fields,
      fields_left_out: read.left_out,
      run: subject.asked?.run?.id ?? null,
      proposal: await proposalOf(deps, account, subject),
      steps: await stepsOf(deps, subject, read.titles),
      previous: await previousOf(deps, it, call),
      undo: await undoOf(deps, account, subject),
      budget: await budgetOf(deps, it, subject),
      agent: await agentOf(deps, it),
      eligible: { ...eligibleOf(it, principal, at), reveal: await revealOf(deps, shown, call) },
      digest: it.request.digest,
      shown_digest: read.form.shown_digest,
    };
    return { status: 200, body };
  };
