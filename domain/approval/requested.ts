import type { HeldRequest } from "../delivery/events.ts";
import type { ApprovalRequest } from "./events.ts";
import { summaryOf } from "./summary.ts";

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
