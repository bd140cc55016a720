import type { ApprovalRequest, FormSeen, Requester, Vote } from "../../domain/approval/events.ts";
import type { ShownChange } from "../../domain/change/events.ts";
import type { ApprovalDocument } from "../approvals.ts";
import { closed, count, flag, list, oneOf, optional, orNull, text, time } from "./json-schema.ts";
import type { PublishedView } from "./published-view.ts";
import { ACCOUNT } from "./words.ts";

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
const DECISIONS: readonly Vote["decision"][] = ["approve", "reject"];

const REQUESTER = closed<Requester>("Who wanted it, as it was then.", {
  kind: oneOf(REQUESTERS, "What kind of sender."),
  id: text("The sender's id, src_… or agt_…."),
  name: text("What the account called it then."),
  member: optional(text("The member who replayed it, mem_…. Missing: no person did.")),
});

const POLICY = closed<NonNullable<ApprovalRequest["policy"]>>("The policy that asks for it.", {
  id: text("The policy's id, pol_…."),
  version: count("The version that was in force; policy-versions.v1 has it."),
});

const FORMS: readonly FormSeen["form"][] = ["full", "redacted", "not stated"];

const FORM = closed<FormSeen>("Which form of the request the voter was shown.", {
  form: oneOf(FORMS, "not stated: the vote came without a digest of the form."),
  hidden: list(
    { type: "string" },
    "JSON Pointers of the fields that were hidden; an empty pointer is the whole payload.",
  ),
});

const REPLACED = closed<NonNullable<ApprovalRequest["replaces"]>>(
  "The approval that it was asked for in place of, as what that one was bound to had changed. Missing: it is the first.",
  { approval_id: text("That approval's id, apr_…."), digest: text("What that one was bound to, hex SHA-256.") },
);

const VOTE = closed<Vote>("What one person decided.", {
  member_id: text("Whose it is, mem_…."),
  email: text("The member's address then."),
  decision: oneOf(DECISIONS, "Which."),
  comment: orNull(text("What the member said with it."), "nothing."),
  shown: FORM,
  shown_digest: orNull(text("Hex SHA-256 of that form, salted."), "the vote did not state it."),
  at: time("When."),
});

const ANY = { description: "The settings, or null where it is not there." };
const CHANGE = closed<ShownChange>("Of a change: its target as it is and as it would be.", {
  target: closed<ShownChange["target"]>("What would be changed.", {
    kind: text("agent, source, action, endpoint, policy or member."),
    id: text("Its id; an action's name."),
  }),
  before: ANY,
  after: ANY,
});

export const approvalsView: PublishedView = {
  view: "approvals.v1",
  description: "What people were asked to approve, what they decided, and what it came to.",
  id: "The approval's id, apr_….",
  documents: [
    closed<ApprovalDocument>("An approval.", {
      account: ACCOUNT,
      status: oneOf(
        APPROVAL_STATUSES,
        "How it stands. approved: nothing has begun yet; consumed: what it approved was released, once. Past expires_at a " +
          "pending one can no longer be approved. void: what it was bound to has changed, see replaced_by.",
      ),
      subject_kind: oneOf(
        SUBJECTS,
        "Whether one event is approved, all steps of a bundle, or a change of a protected policy.",
      ),
      subject_id: text("What is approved, evt_…, bun_… or chg_…."),
      action: orNull(
        text("The action's name; of a source's event its type."),
        "the provider gave it no type, or it is a bundle.",
      ),
      summary: text("One line for people."),
      digest: text("Hex SHA-256 of what would be executed; each vote named it."),
      cost: orNull(
        { type: "integer", minimum: 0, description: "What it costs, in micro-euros: 1,000,000 are 1 euro." },
        "no cost could be, or had to be, determined.",
      ),
      change: optional(CHANGE),
      requested_by: REQUESTER,
      requested_at: time("When it was held."),
      expires_at: time("Until when it could be decided."),
      min_approvals: count("How many people had to approve."),
      exclude_requester: flag("Whether the requesters could not approve it."),
      requesters: list(
        { type: "string" },
        "The members who count as the requester, mem_…: who replayed it, and who made the key or secret it was sent with.",
      ),
      policy: orNull(POLICY, "no policy asks for it."),
      reasons: list({ type: "string" }, "Why it had to be approved, in sentences."),
      votes: list(VOTE, "What people decided, oldest first."),
      decided_at: orNull(time("When it was approved, rejected, expired, cancelled or became void."), "it is pending."),
      reason: orNull(text("Why it was rejected or cancelled, or became void."), "it was not."),
      replaces: optional(REPLACED),
      replaced_by: orNull(text("The approval that was asked for instead of a void one, apr_…."), "it is not void."),
    }),
  ],
};
