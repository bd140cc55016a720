import type { ApprovalRequest, FormSeen, Requester } from "../../domain/approval/events.ts";
import type { ShownChange } from "../../domain/change/shown-change.ts";
import type { ApprovalDocument, ShownVote } from "../approvals.ts";
import { closed, count, flag, list, oneOf, optional, orNull, text, time } from "./json-schema.ts";
import type { PublishedView } from "./published-view.ts";
import { ACCOUNT, reason, words } from "./words.ts";

export const APPROVAL_STATUSES: readonly ApprovalDocument["status"][] = [
  "pending",
  "approved",
  "consumed",
  "rejected",
  "expired",
  "cancelled",
  "void",
];
const SUBJECTS: readonly ApprovalDocument["subject_kind"][] = ["event", "bundle", "change"];
const REQUESTERS: readonly Requester["kind"][] = ["source", "agent", "member"];
const DECISIONS: readonly ShownVote["decision"][] = ["approve", "reject"];

const REQUESTER = closed<Requester>("Who requested it, with the details of that time.", {
  kind: oneOf(REQUESTERS, "The kind of requester."),
  id: text("The sender's id, src_… or agt_…."),
  name: text("Its name at that time."),
  member: optional(text("The member who replayed it, mem_…. Missing: it was not replayed.")),
});

const POLICY = closed<NonNullable<ApprovalRequest["policy"]>>("The policy that requires it.", {
  id: text("The policy's id, pol_…."),
  version: count("The version that was in force; policy-versions.v1 has it."),
});

const FORMS: readonly FormSeen["form"][] = ["full", "redacted", "not stated"];

const FORM = closed<FormSeen>("The form of the request that the voter saw.", {
  form: oneOf(FORMS, "not stated: the vote came without a digest of the form."),
  hidden: list(
    { type: "string" },
    "JSON Pointers of the fields that were hidden; an empty pointer is the whole payload.",
  ),
});

const REPLACED = closed<NonNullable<ApprovalRequest["replaces"]>>(
  "The approval that this one replaces, because what that was bound to had changed. Missing: it replaces none.",
  { approval_id: text("That approval's id, apr_…."), digest: text("The digest that it was bound to, hex SHA-256.") },
);

const VOTE = closed<ShownVote>("One person's decision.", {
  member_id: text("The member's id, mem_…."),
  email: words("The member's address at that time."),
  address: text("A keyed hash of the address, eml_…."),
  decision: oneOf(DECISIONS, "The decision."),
  comment: orNull(words("The member's comment."), "there was none."),
  shown: FORM,
  shown_digest: orNull(text("Hex SHA-256 of that form, salted."), "the vote did not state it."),
  at: time("When."),
});

const ANY = { description: "The settings; null if the target does not exist." };
const CHANGE = closed<ShownChange>("The target of a change, before and after it.", {
  target: closed<ShownChange["target"]>("The thing that would change.", {
    kind: text("agent, source, action, endpoint, policy or member."),
    id: text("Its id; an action's name."),
  }),
  before: ANY,
  after: ANY,
});

export const approvalsView: PublishedView = {
  view: "approvals.v2",
  description: "Approvals: the request, people's votes and the outcome.",
  id: "The approval's id, apr_….",
  documents: [
    closed<ApprovalDocument>("An approval.", {
      account: ACCOUNT,
      status: oneOf(
        APPROVAL_STATUSES,
        "approved: nothing has begun yet; consumed: the approved request was released, once. After expires_at a pending " +
          "approval can no longer be given. void: what it was bound to has changed, see replaced_by.",
      ),
      subject_kind: oneOf(SUBJECTS, "One event, all steps of a bundle, or a change of a protected policy."),
      subject_id: text("The id of the event, bundle or change: evt_…, bun_… or chg_…."),
      action: orNull(
        text("The action's name; for a source's event, its type."),
        "the event has no type, or it is a bundle.",
      ),
      summary: text("One line for people."),
      digest: text("Hex SHA-256 of what would be executed; each vote names it."),
      cost: orNull(
        { type: "integer", minimum: 0, description: "The cost in micro-euros: 1,000,000 are 1 euro." },
        "no cost could be, or had to be, determined.",
      ),
      change: optional(CHANGE),
      requested_by: REQUESTER,
      requested_at: time("When it was held."),
      expires_at: time("When it expires."),
      min_approvals: count("The number of people who have to approve."),
      exclude_requester: flag("True: the requesters may not approve it."),
      requesters: list(
        { type: "string" },
        "The members who count as the requester, mem_…: who replayed it, and who made the key or secret it was sent with.",
      ),
      policy: orNull(POLICY, "no policy requires it."),
      reasons: list({ type: "string" }, "Sentences that say why an approval is needed."),
      votes: list(VOTE, "People's votes, oldest first."),
      decided_at: orNull(time("When it was approved, rejected, expired, cancelled or voided."), "it is pending."),
      reason: orNull(reason("Why it was rejected, cancelled or voided."), "it was not."),
      replaces: optional(REPLACED),
      replaced_by: orNull(text("The approval that replaces a void one, apr_…."), "it is not void."),
    }),
  ],
};
