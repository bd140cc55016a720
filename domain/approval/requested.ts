import type { BundleHeldAgain, HeldBundle } from "../bundle/events.ts";
import { defined } from "../defined.ts";
import type { HeldAgain, HeldRequest } from "../delivery/events.ts";
import type { ApprovalRequest } from "./events.ts";
import { bundleSummaryOf, summaryOf } from "./summary.ts";

const heldLast = (held: HeldRequest | HeldAgain | HeldBundle | BundleHeldAgain) => {
  if (!("previous" in held)) return { requested_at: held.at };
  const { approval_id, digest } = held.previous;
  return { requested_at: held.held_at, replaces: { approval_id, digest } };
};

/** The approval is computed from the record of the hold alone: a repeat after a crash requests the same approval. */
export const approvalOfHeld = (account: string, held: HeldRequest | HeldAgain): ApprovalRequest => {
  const { event_id, origin, type, cost, verdict } = held;
  const { member, ...terms } = held.approval;
  if (origin.kind === "system") throw new Error(`${event_id} is a notification, and is held`);
  return {
    ...terms,
    account,
    subject: { kind: "event", id: event_id },
    action: type === "" ? null : type,
    summary: summaryOf(held),
    cost,
    requested_by: defined({ kind: origin.kind, id: origin.id, name: origin.name, member }),
    ...heldLast(held),
    policy: verdict.policy,
  };
};

export const approvalOfHeldBundle = (account: string, held: HeldBundle | BundleHeldAgain): ApprovalRequest => {
  const { bundle_id, origin, cost, verdict } = held;
  const { member: _, ...terms } = held.approval;
  return {
    ...terms,
    account,
    subject: { kind: "bundle", id: bundle_id },
    action: null,
    summary: bundleSummaryOf(held),
    cost,
    requested_by: { kind: "agent", id: origin.id, name: origin.name },
    ...heldLast(held),
    policy: verdict.policy,
  };
};
