import { createHash } from "node:crypto";
import { account as accountDecider } from "../../domain/account/decider.ts";
import { roleIncludes } from "../../domain/account/events.ts";
import type { Plan } from "../../domain/account/plans.ts";
import { approval as approvalDecider } from "../../domain/approval/decider.ts";
import type { ApprovalRequest } from "../../domain/approval/events.ts";
import { approvalTerms } from "../../domain/approval/terms.ts";
import { type ChangeCommand, change as changeDecider } from "../../domain/change/decider.ts";
import type { ShownChange } from "../../domain/change/shown-change.ts";
import type { Configuration } from "../../domain/change-control/configuration.ts";
import type { ControlChange } from "../../domain/change-control/control-change.ts";
import { controls as controlsDecider, protectedOf } from "../../domain/change-control/decider.ts";
import type { Weakening } from "../../domain/change-control/weakening.ts";
import { canonicalJson } from "../../domain/evidence/canonical-json.ts";
import type { Json, JsonObject } from "../../domain/json.ts";
import { policy as policyDecider } from "../../domain/policy/decider.ts";
import type { Clock } from "../../domain/ports/clock.ts";
import type { RecordedEvent } from "../../domain/ports/event-log.ts";
import { sameJson } from "../../domain/same-json.ts";
import { derivedId } from "../../infra/crypto/ids.ts";
import { accountStream } from "../accounts/accounts.ts";
import { holdEnds } from "../approvals/approval-reactions.ts";
import { approvalStream } from "../approvals/approvals.ts";
import { type Reaction, reaction } from "../following/reaction.ts";
import { type Answer, positionOf } from "../http/route.ts";
import type { Aggregates } from "../streams/aggregates.ts";
import { changeStream } from "../streams/change-stream.ts";
import { causedEnvelope, type Envelope } from "../streams/envelope.ts";
import { changedMeanwhile, limitReached, type Problem, problem } from "../streams/problems.ts";
import type { ControlCaller, Controls, Deferred } from "./control-change.ts";
import { controlsStream } from "./control-parts.ts";
import { asJson, PART_STREAMS } from "./parts.ts";

export type ChangesDeps = { readonly aggregates: Pick<Aggregates, "load" | "handle" | "handleDerived"> };

export type HoldingDeps = ChangesDeps & { readonly planOf: (account: string) => Promise<Plan> };

const tooFew = (needed: number, there: number): Problem =>
  problem(
    "too-few-approvers",
    `This change weakens a protected policy, which needs ${needed} approvals, and ${there} people could approve it. ` +
      "Make more people approvers first, or run `countersign account recover --policy` on the service's machine.",
    { extra: { needed, available: there } },
  );

const shownNow = async (
  aggregates: Pick<Aggregates, "load">,
  account: string,
  { kind, id }: ShownChange["target"],
): Promise<Json> => (await PART_STREAMS[kind].find(aggregates, account, id)).shown;

/** If all places are taken, asks the streams of the held changes which have ended, and frees their places. */
const placeFor = async (
  { aggregates, planOf }: HoldingDeps,
  changeId: string,
  envelope: Envelope,
): Promise<Problem | null> => {
  const { account, at, commandId } = envelope;
  const max = (await planOf(account)).counts.held_changes;
  const isOver = async (id: string): Promise<boolean> => {
    const command = { type: "AbandonChange", changeId: id, at } as const;
    const own = { ...envelope, commandId: `${commandId}/place/${id}` };
    return (await aggregates.handle(changeDecider, changeStream(id), command, own)).state.phase !== "held";
  };
  const look = async ({ heldChanges }: Configuration) => {
    const over: string[] = [];
    if (heldChanges.size >= max && !heldChanges.has(changeId)) {
      for (const id of heldChanges) if (await isOver(id)) over.push(id);
    }
    return { type: "PlaceHeldChange", account, changeId, over, max, at } as const;
  };
  const own = { ...envelope, commandId: `${commandId}/place` };
  const placed = await aggregates.handleDerived(controlsDecider, controlsStream(account), look, own);
  return placed.outcome === "rejected" ? limitReached("held_changes", max) : null;
};

type WeakeningChange = {
  readonly change: ControlChange;
  readonly deferred: Deferred;
  readonly weakened: readonly Weakening[];
  readonly state: Configuration;
};

export const holdChange = async (
  { aggregates, planOf }: HoldingDeps,
  call: ControlCaller,
  { change, deferred, weakened, state }: WeakeningChange,
): Promise<Answer | Problem> => {
  const { envelope, principal } = call;
  const { account, id: by } = principal;
  const { at, commandId } = envelope;
  const target = { kind: change.kind, id: change.id };
  const policies = protectedOf(weakened, state, at);
  const rules = policies.flatMap((id) => state.policy.get(id)?.approval ?? []);
  const [policyId = ""] = policies;
  const change_id = derivedId("chg_", account, commandId);
  const approval_id = derivedId("apr_", account, change_id);
  const shown = { target, before: await shownNow(aggregates, account, target), after: deferred.after };
  const command = asJson(await deferred.command(changeStream(change_id))) as JsonObject; // Commands are objects.
  const digest = createHash("sha256")
    .update(canonicalJson({ account, change_id, ...shown, command }))
    .digest("hex");
  const details = { approvalId: approval_id, digest, gates: [], atMs: Date.parse(at), requesters: [by] };
  const terms = approvalTerms(rules, details);
  const { min_approvals, exclude_requester } = terms;
  const { state: people } = await aggregates.load(accountDecider, accountStream(account), 0);
  const approvers = people.phase === "open" ? [...people.members] : [];
  const able = approvers.filter(
    ([id, { role }]) => roleIncludes(role, "approver") && !(exclude_requester && id === by),
  ).length;
  if (able < min_approvals) return tooFew(min_approvals, able);

  const { state: published } = await aggregates.load(policyDecider, `policy-${policyId}`);
  const approval: ApprovalRequest = {
    ...terms,
    account,
    subject: { kind: "change", id: change_id },
    action: null,
    summary: `A change of ${target.kind} ${target.id} that weakens a protected policy`,
    cost: null,
    requested_by: { kind: "member", id: by, name: by, member: by },
    requested_at: at,
    policy: published.phase === "published" ? { id: policyId, version: published.version } : null,
    reasons: [...new Set(weakened.map(({ why }) => why))].slice(0, 20),
    change: shown,
  };
  // The approval will be that of these policies' quorums, and not of a policy that becomes protected later.
  const approved = { policies, approvals: min_approvals, excludesRequester: exclude_requester };
  const control = { ...change, approved };
  const held = { ...shown, change_id, account, approval_id, by, at, approval, control, command };
  const full = await placeFor({ aggregates, planOf }, change_id, envelope);
  if (full !== null) return full;
  const own = { ...envelope, commandId: `${commandId}/hold` };
  const kept = await aggregates.handle(changeDecider, changeStream(change_id), { type: "HoldChange", held }, own);
  // The change took so long that another one was given its place.
  if (kept.outcome === "rejected") return changedMeanwhile();
  // A repeat after a crash has made other words, so its digest is another than that of the change that is held.
  const request = kept.state.phase === "held" ? kept.state.held.approval : approval;
  const asked = await requestApproval(aggregates, request, { ...envelope, commandId: `${commandId}/approval` });
  return { status: 202, body: { status: "held", approval_id, change_id }, ...asked };
};

const requestApproval = async (
  { handle }: Pick<Aggregates, "handle">,
  request: ApprovalRequest,
  envelope: Envelope,
): Promise<Pick<Answer, "position">> => {
  const command = { type: "RequestApproval", request } as const;
  const done = await handle(approvalDecider, approvalStream(request.approval_id), command, envelope);
  return done.outcome === "rejected" ? {} : positionOf(done);
};

const CHANGED = "The target is no longer as its approvers saw it: request the change again.";

export type AppliedChanges = {
  /**
   * Null if an approved change can be applied. If the target is no longer as people were shown it, the change is
   * voided.
   */
  hindrance(changeId: string, envelope: Envelope): Promise<Problem | null>;
  apply(changeId: string, envelope: Envelope): Promise<void>;
};

export const appliedChanges = ({
  aggregates,
  controls,
}: ChangesDeps & { readonly controls: Controls }): AppliedChanges => {
  const load = async (changeId: string) => (await aggregates.load(changeDecider, changeStream(changeId), 0)).state;
  const handle = (changeId: string, envelope: Envelope, command: ChangeCommand) => {
    const own = { ...envelope, commandId: `${envelope.commandId}/${command.type}` };
    return aggregates.handle(changeDecider, changeStream(changeId), command, own);
  };
  const voidChange = async (changeId: string, envelope: Envelope): Promise<void> => {
    await handle(changeId, envelope, { type: "VoidChange", reason: CHANGED, at: envelope.at });
  };
  return {
    async hindrance(changeId, envelope) {
      const state = await load(changeId);
      if (state.phase !== "held") return null;
      const { account, target, before } = state.held;
      if (sameJson(await shownNow(aggregates, account, target), before)) return null;
      await voidChange(changeId, { ...envelope, account });
      return problem("conflict", CHANGED);
    },

    async apply(changeId, envelope) {
      const state = await load(changeId);
      if (state.phase !== "held") return;
      const { account, target, before, after, control, command, by } = state.held;
      // A crash may have come between the change of the target and its record in the stream of the change.
      const shown = await shownNow(aggregates, account, target);
      if (![before, after].some((it) => sameJson(shown, it))) return voidChange(changeId, envelope);
      const named = { ...envelope, commandId: `apply-${changeId}`, account };
      const caller = { principal: { kind: "member", account, id: by }, envelope: named } as const;
      const refused = await controls.authorize(caller, control);
      if (refused !== null) return voidChange(changeId, envelope);
      const { kind, id } = target;
      const own = { id, command: { ...command, at: envelope.at }, shown };
      const done = await PART_STREAMS[kind].give(aggregates, named, own);
      if (done.outcome === "rejected") return voidChange(changeId, envelope);
      await handle(changeId, envelope, { type: "MarkApplied", at: envelope.at });
    },
  };
};

/** Every command of these reactions is idempotent, because a crash may repeat it. */
export const changeReactions = (
  { aggregates, clock }: ChangesDeps & { readonly clock: Clock },
  changes: AppliedChanges,
): readonly Reaction[] => {
  const envelopeOf = (cause: RecordedEvent): Envelope =>
    causedEnvelope(cause, {
      actor: "changes",
      commandId: `changes-${cause.id}`,
      at: new Date(clock.now()).toISOString(),
    });
  return [
    // The request itself asks for the approval before it answers; this covers a crash in between.
    reaction("ChangeHeld", async ({ approval }, cause) => {
      await requestApproval(aggregates, approval, envelopeOf(cause));
    }),
    reaction("ApprovalGranted", async ({ subject }, cause) => {
      if (subject.kind === "change") await changes.apply(subject.id, envelopeOf(cause));
    }),
    ...holdEnds("change", clock, (cause, changeId, { approvalId: _, ...command }) =>
      aggregates.handle(changeDecider, changeStream(changeId), command, envelopeOf(cause)),
    ),
  ];
};
