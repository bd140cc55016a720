import type { ShownChange } from "../change/events.ts";

/** The subject of an approval: an event, all steps of a bundle, or a change of a protected policy. */
export type Subject = { readonly kind: "event" | "bundle" | "change"; readonly id: string };

/** `member`: the person who replays the request of a source or an agent. */
export type Requester = {
  readonly kind: "source" | "agent" | "member";
  readonly id: string;
  readonly name: string;
  readonly member?: string;
};

type Named = { readonly approval_id: string; readonly digest: string };

/** The terms are fixed when the approval is requested. Times are ISO-8601 UTC with milliseconds. */
export type ApprovalRequest = {
  readonly approval_id: string;
  readonly account: string;
  readonly subject: Subject;
  /** The action's name, or the provider's event type; null if there is none, and for a bundle. */
  readonly action: string | null;
  readonly summary: string;
  /** Hex SHA-256 of what would be executed: a vote names it, so nobody approves something they were not shown. */
  readonly digest: string;
  /** Micro-euros; null when no cost could be or had to be determined. */
  readonly cost: number | null;
  readonly requested_by: Requester;
  readonly requested_at: string;
  readonly expires_at: string;
  readonly min_approvals: number;
  readonly exclude_requester: boolean;
  /** Members who count as the requester: whoever replays it, and who made the key or the source's secret in force. */
  readonly requesters: readonly string[];
  /** The version that requires approval: later versions change nothing here. */
  readonly policy: { readonly id: string; readonly version: number } | null;
  readonly reasons: readonly string[];
  /** The change's target before and after. */
  readonly change?: ShownChange;
  /** The approval that this one replaces; absent for the first. */
  readonly replaces?: Named;
};

/** The form of the request that a voter was shown; "not stated" if the vote has no digest of the form. */
export type FormSeen = {
  readonly form: "full" | "redacted" | "not stated";
  /** JSON Pointers of the hidden fields, "" for the whole payload; empty unless redacted. */
  readonly hidden: readonly string[];
};

export const FORM_NOT_STATED = { shown: { form: "not stated", hidden: [] }, shown_digest: null } as const;

export type Vote = {
  readonly member_id: string;
  readonly email: string;
  readonly decision: "approve" | "reject";
  readonly comment: string | null;
  readonly shown: FormSeen;
  /** Hex SHA-256 of that form, salted (`src/bodies/approval-form.ts`); null if the vote did not state it. */
  readonly shown_digest: string | null;
  readonly at: string;
};

/** Repeated with every end, so that reactions need that record alone. */
type About = { readonly approval_id: string; readonly subject: Subject; readonly at: string };

/** Stream `approval-<id>`. An approval has one end; only a granted one that is unused can still be voided. */
export type ApprovalEvent =
  | { readonly type: "ApprovalRequested"; readonly data: ApprovalRequest }
  | {
      readonly type: "VoteCast";
      readonly data: Vote & { readonly approval_id: string; readonly digest: string };
    }
  /** Written before the fields are shown, once per member. */
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
  /** The target or action has changed. `digest`: its own; `next`: the approval requested instead. */
  | {
      readonly type: "ApprovalVoided";
      readonly data: About & { readonly digest: string; readonly next: Named; readonly reason: string };
    };
