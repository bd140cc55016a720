import type { BundleHeldAgain, HeldBundle } from "../bundle/events.ts";
import type { HeldAgain, HeldRequest } from "../delivery/events.ts";
import type { ApprovalRequest } from "./events.ts";
import { bundleSummaryOf, summaryOf } from "./summary.ts";

/** When it was held last, and the approval that is asked for anew. */
const heldLast = (held: HeldRequest | HeldAgain | HeldBundle | BundleHeldAgain) => {
  if (!("previous" in held)) return { requested_at: held.at };
  const { approval_id, digest } = held.previous;
  return { requested_at: held.held_at, replaces: { approval_id, digest } };
};

/** What is asked of people for one held event: from the record of the hold alone, so that asking twice is asking the same. */
export const approvalOfHeld = (account: string, held: HeldRequest | HeldAgain): ApprovalRequest => {
  const { event_id, origin, type, cost, verdict } = held;
  const { member, ...terms } = held.approval;
  // What is not asked for by anybody is not held.
  if (origin.kind === "system") throw new Error(`${event_id} is a notification, and is held`);
  return {
    ...terms,
    account,
    subject: { kind: "event", id: event_id },
    action: type === "" ? null : type,
    summary: summaryOf(held),
    cost,
    requested_by: {
      kind: origin.kind,
      id: origin.id,
      name: origin.name,
      ...(member === undefined ? {} : { member }),
    },
    ...heldLast(held),
    policy: verdict.policy,
  };
};

/** As above, for all steps of a bundle at once. */
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
