import type { ShownChange } from "../change/shown-change.ts";
import type { Commitment } from "../evidence/commitment.ts";
import type { Reason, Words } from "../personal/words.ts";

export type Subject = { readonly kind: "event" | "bundle" | "change"; readonly id: string };

/** `member` is the id of the person who replays a source's or an agent's request, or asks for a change. */
export type Requester = {
  readonly kind: "source" | "agent" | "member";
  readonly id: string;
  readonly name: string;
  readonly member?: string;
};

type Named = { readonly approval_id: string; readonly digest: string };

/** The terms of a requested approval stay the same, even if its policy gets a new version. */
export type ApprovalRequest = {
  readonly approval_id: string;
  readonly account: string;
  readonly subject: Subject;
  /** The action's name or the provider's event type; null for a bundle, a change, and an event without a type. */
  readonly action: string | null;
  readonly summary: string;
  /** Hex SHA-256 of what would be executed. A vote names it, so nobody approves what they were not shown. */
  readonly digest: string;
  /** Micro-euros; null if no cost was determined. */
  readonly cost: number | null;
  readonly requested_by: Requester;
  readonly requested_at: string;
  readonly expires_at: string;
  readonly min_approvals: number;
  readonly exclude_requester: boolean;
  /** Ids of the members who ask for the change, replay the request, or made the key or secrets it was sent with. */
  readonly requesters: readonly string[];
  readonly policy: { readonly id: string; readonly version: number } | null;
  readonly reasons: readonly string[];
  readonly change?: ShownChange;
  readonly replaces?: Named;
};

/** "not stated" if the vote does not say which form of the request its voter saw. */
export type FormSeen = {
  readonly form: "full" | "redacted" | "not stated";
  /** JSON Pointers of the fields that the voter did not see; "" stands for the whole payload. */
  readonly hidden: readonly string[];
};

export const FORM_NOT_STATED = { shown: { form: "not stated", hidden: [] }, shown_digest: null } as const;

export type Vote = {
  readonly member_id: string;
  /** The commitment of the member's address at that time. */
  readonly email: Words;
  /** A keyed hash of the address, which is the same for one person under two ids. */
  readonly address: string;
  readonly decision: "approve" | "reject";
  readonly comment: Words | null;
  readonly shown: FormSeen;
  /** Hex SHA-256 over the shown form and a salt (`src/bodies/approval-form.ts`); null if the vote did not say. */
  readonly shown_digest: string | null;
  /**
   * The form itself: `shown_digest` is its commitment. An erasure of the payload removes it, and that of the personal data
   * with this id where no payload was shown. Left out if the vote did not say, and in older records.
   */
  readonly shown_form?: Commitment;
  /** Left out if the session of the vote was opened in a browser. */
  readonly made_by?: "command-line";
  readonly at: string;
};

/** Each record that ends an approval has these fields, so that a reaction to it has to read no other record. */
type About = { readonly approval_id: string; readonly subject: Subject; readonly at: string };

/** Stream `approval-<id>`. An approval ends once, but a granted one that is not used yet can still be voided. */
export type ApprovalEvent =
  | { readonly type: "ApprovalRequested"; readonly data: ApprovalRequest }
  | {
      readonly type: "VoteCast";
      readonly data: Vote & { readonly approval_id: string; readonly digest: string };
    }
  /** This record is written before the hidden fields are shown to a member, once for each member. */
  | {
      readonly type: "HiddenFieldsRevealed";
      readonly data: {
        readonly approval_id: string;
        readonly member_id: string;
        readonly hidden: readonly string[];
        readonly at: string;
      };
    }
  | { readonly type: "ApprovalGranted"; readonly data: About & { readonly digest: string } }
  | { readonly type: "ApprovalRejected"; readonly data: About & { readonly reason: Reason } }
  | { readonly type: "ApprovalExpired"; readonly data: About }
  | { readonly type: "ApprovalCancelled"; readonly data: About & { readonly reason: Reason } }
  | {
      readonly type: "ApprovalVoided";
      readonly data: About & { readonly digest: string; readonly next: Named; readonly reason: Reason };
    };
