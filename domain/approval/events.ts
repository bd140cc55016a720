import type { ShownChange } from "../change/events.ts";

/** What is approved: one API event, all steps of a bundle at once, or a change that weakens a protected policy. */
export type Subject = { readonly kind: "event" | "bundle" | "change"; readonly id: string };

/** Who wanted it. `member`: the person behind a request that a source or an agent had made before, as a replay. */
export type Requester = {
  readonly kind: "source" | "agent" | "member";
  readonly id: string;
  readonly name: string;
  readonly member?: string;
};

type Named = { readonly approval_id: string; readonly digest: string };

/** What is asked of people, fixed when it is asked. Times are ISO-8601 UTC with milliseconds. */
export type ApprovalRequest = {
  readonly approval_id: string;
  readonly account: string;
  readonly subject: Subject;
  /** The action's name, or the provider's type of a source's event; null when it has none, and of a bundle. */
  readonly action: string | null;
  /** One line for people. */
  readonly summary: string;
  /** Hex SHA-256 of what would be executed: a vote names it, so that nobody approves what they were not shown. */
  readonly digest: string;
  /** Micro-euros; null when no cost could be or had to be determined. */
  readonly cost: number | null;
  readonly requested_by: Requester;
  readonly requested_at: string;
  readonly expires_at: string;
  /** Distinct people. */
  readonly min_approvals: number;
  readonly exclude_requester: boolean;
  /**
   * Ids of the members who count as the requester: who replays it, and who made the agent's key or the source's secret
   * that was in force.
   */
  readonly requesters: readonly string[];
  /** The version that demands it: a later one changes nothing here. */
  readonly policy: { readonly id: string; readonly version: number } | null;
  /** Why it has to be approved, in sentences. */
  readonly reasons: readonly string[];
  /** Of a change: its target as it is and as it would be. */
  readonly change?: ShownChange;
  /** The approval that it was asked for in place of, as what that one was bound to had changed; missing for the first. */
  readonly replaces?: Named;
};

/** Which form of the request a voter had before them; "not stated": the vote came without a digest of the form. */
export type FormSeen = {
  readonly form: "full" | "redacted" | "not stated";
  /** JSON Pointers of the fields that the policy hid from the voter, "" for the whole payload; empty unless redacted. */
  readonly hidden: readonly string[];
};

/** Of a vote that names no form. */
export const FORM_NOT_STATED = { shown: { form: "not stated", hidden: [] }, shown_digest: null } as const;

export type Vote = {
  readonly member_id: string;
  /** As it was when the vote was cast. */
  readonly email: string;
  readonly decision: "approve" | "reject";
  readonly comment: string | null;
  readonly shown: FormSeen;
  /** Hex SHA-256 of that form, salted (`src/documents/approval-form.ts`); null if the vote did not state it. */
  readonly shown_digest: string | null;
  readonly at: string;
};

/** Said again with every end, so that what follows can be done from that record alone. */
type About = { readonly approval_id: string; readonly subject: Subject; readonly at: string };

/**
 * Stream `approval-<id>`. Granted, rejected, expired, cancelled and voided are ends. There is one at most; only a granted
 * approval that nothing has used yet can still be voided.
 */
export type ApprovalEvent =
  | { readonly type: "ApprovalRequested"; readonly data: ApprovalRequest }
  | {
      readonly type: "VoteCast";
      readonly data: Vote & { readonly approval_id: string; readonly digest: string };
    }
  /** Written before the fields are shown: once for each member, whatever they read afterwards. */
  | {
      readonly type: "HiddenFieldsRevealed";
      readonly data: {
        readonly approval_id: string;
        readonly member_id: string;
        /** JSON Pointers. */
        readonly hidden: readonly string[];
        readonly at: string;
      };
    }
  | { readonly type: "ApprovalGranted"; readonly data: About & { readonly digest: string } }
  | { readonly type: "ApprovalRejected"; readonly data: About & { readonly reason: string } }
  | { readonly type: "ApprovalExpired"; readonly data: About }
  | { readonly type: "ApprovalCancelled"; readonly data: About & { readonly reason: string } }
  /** What it was bound to has changed. `digest`: its own; `next`: the approval that is asked for instead. */
  | {
      readonly type: "ApprovalVoided";
      readonly data: About & { readonly digest: string; readonly next: Named; readonly reason: string };
    };
