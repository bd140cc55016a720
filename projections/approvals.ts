import type { ApprovalEvent, ApprovalRequest, Vote } from "../domain/approval/events.ts";
import type { BundleEvent } from "../domain/bundle/events.ts";
import type { ChangeEvent } from "../domain/change/events.ts";
import type { DeliveryEvent } from "../domain/delivery/events.ts";
import type { Reason } from "../domain/personal/words.ts";
import type { RecordedEvent } from "../domain/ports/event-log.ts";
import { eventOf, perDocument } from "./projection.ts";
import { bundleOf, categoryOf, deliveryOf, subjectOf } from "./streams.ts";

/**
 * `approved` lasts until the execution begins and consumes the approval. `void` means that what the approval was bound
 * to has changed.
 */
export type ApprovalStatus = "pending" | "approved" | "consumed" | "rejected" | "expired" | "cancelled" | "void";

/** Amounts of money are in micro-euros. */
/** The audit says which kind of session a vote was made from, and has the commitment to the form that was shown. */
export type ShownVote = Omit<Vote, "made_by" | "shown_form">;

export type ApprovalDocument = Omit<ApprovalRequest, "approval_id" | "subject"> & {
  readonly status: ApprovalStatus;
  readonly subject_kind: ApprovalRequest["subject"]["kind"];
  readonly subject_id: string;
  readonly votes: readonly ShownVote[];
  /** When the approval ceased to be pending; null until then. */
  readonly decided_at: string | null;
  /** Why the approval was rejected, cancelled or voided; else null. */
  readonly reason: Reason | null;
  /** The approval that was requested in place of this void one; else null. */
  readonly replaced_by: string | null;
};

const APPROVAL = "approval-";

type OfHold =
  | Extract<DeliveryEvent, { type: "EventReleased" | "HoldEnded" }>
  | Extract<BundleEvent, { type: "BundleReleased" | "BundleHoldEnded" }>;
type OfChange = Extract<ChangeEvent, { type: "ChangeApplied" | "ChangeVoided" }>;
type Known = ApprovalEvent | OfHold | OfChange;

const changeOf = ({ stream }: RecordedEvent): string | null =>
  categoryOf(stream) === "change" ? subjectOf(stream) : null;

const OF_HOLD: Readonly<Record<OfHold["type"] | OfChange["type"], (event: RecordedEvent) => string | null>> = {
  ChangeApplied: changeOf,
  ChangeVoided: changeOf,
  EventReleased: deliveryOf,
  HoldEnded: deliveryOf,
  BundleReleased: bundleOf,
  BundleHoldEnded: bundleOf,
};

const idOf = (event: RecordedEvent): string | null => {
  if (event.stream.startsWith(APPROVAL)) return event.stream.slice(APPROVAL.length);
  // `hasOwn`, because an event type may be called "constructor", which every object has.
  const held = Object.hasOwn(OF_HOLD, event.type) ? OF_HOLD[event.type as keyof typeof OF_HOLD](event) : null;
  return held === null ? null : String(event.data.approval_id);
};

const requested = ({ approval_id: _, subject, ...request }: ApprovalRequest): ApprovalDocument => ({
  ...request,
  status: "pending",
  subject_kind: subject.kind,
  subject_id: subject.id,
  votes: [],
  decided_at: null,
  reason: null,
  replaced_by: null,
});

const isOpen = ({ status }: ApprovalDocument): boolean => status === "pending" || status === "approved";

const evolve = (document: ApprovalDocument | null, recorded: RecordedEvent): ApprovalDocument | null => {
  const event = eventOf<Known>(recorded);
  if (event.type === "ApprovalRequested") return requested(event.data);
  if (document === null) return null;
  // A change that is void has ended, so later records of its approval do not alter the status.
  if (document.status === "void" && document.subject_kind === "change") return document;
  const decided = (status: ApprovalStatus, reason: Reason | null = null): ApprovalDocument => ({
    ...document,
    status,
    decided_at: event.data.at,
    reason,
  });
  switch (event.type) {
    case "VoteCast": {
      const { approval_id: _, digest: _shown, made_by: _madeBy, shown_form: _form, ...vote } = event.data;
      const isKnown = document.votes.some((it) => it.member_id === vote.member_id && it.decision === vote.decision);
      return isKnown ? document : { ...document, votes: [...document.votes, vote] };
    }
    case "ApprovalGranted":
      return decided("approved");
    case "ApprovalRejected":
      return decided("rejected", event.data.reason);
    case "ApprovalExpired":
      return decided("expired");
    case "ApprovalCancelled":
      return decided("cancelled", event.data.reason);
    case "ApprovalVoided":
      return { ...decided("void", event.data.reason), replaced_by: event.data.next.approval_id };
    case "ChangeVoided":
      return decided("void", event.data.reason);
    case "ChangeApplied":
    case "EventReleased":
    case "BundleReleased":
      return { ...document, status: "consumed" };
    case "HoldEnded":
    case "BundleHoldEnded":
      // A granted approval may still be cancelled, as long as nothing has used it.
      return isOpen(document) ? decided(event.data.outcome, event.data.reason) : document;
    default:
      return document;
  }
};

export const approvals = perDocument<ApprovalDocument>(
  {
    name: "approvals.v2",
    fields: { account: "text", status: "text", requested_at: "text", expires_at: "text" },
    indexes: [
      ["account", "requested_at"],
      // For the timer that expires approvals of all accounts.
      ["status", "expires_at"],
      ["account", "status", "requested_at"],
      ["account", "status", "expires_at"],
    ],
  },
  idOf,
  evolve,
);
