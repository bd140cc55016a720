import type { HeldBundle } from "../bundle/events.ts";
import type { HeldRequest } from "../delivery/events.ts";
import type { ApprovalRequest } from "./events.ts";
import { bundleSummaryOf, summaryOf } from "./summary.ts";

/** What is asked of people for one held event: from the record of the hold alone, so that asking twice is asking the same. */
export const approvalOfHeld = (account: string, held: HeldRequest): ApprovalRequest => {
  const { event_id, origin, type, cost, verdict, at } = held;
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
    requested_at: at,
    policy: verdict.policy,
  };
};

/** As above, for all steps of a bundle at once. */
export const approvalOfHeldBundle = (account: string, held: HeldBundle): ApprovalRequest => {
  const { bundle_id, origin, cost, verdict, at } = held;
  const { member: _, ...terms } = held.approval;
  return {
    ...terms,
    account,
    subject: { kind: "bundle", id: bundle_id },
    action: null,
    summary: bundleSummaryOf(held),
    cost,
    requested_by: { kind: "agent", id: origin.id, name: origin.name },
    requested_at: at,
    policy: verdict.policy,
  };
};
