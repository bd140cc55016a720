import type { Commitment } from "../evidence/commitment.ts";
import type { Words } from "../personal/words.ts";
import type { Sealed } from "../sealed.ts";

/** Each role has the rights of all roles after it in this list. */
export const ROLES = ["owner", "admin", "approver", "auditor", "viewer"] as const;
export type Role = (typeof ROLES)[number];

export const KEY_ROLES = ["admin", "auditor", "viewer"] as const satisfies readonly Role[];
export type KeyRole = (typeof KEY_ROLES)[number];

export const roleIncludes = (role: Role, needed: Role): boolean => ROLES.indexOf(role) <= ROLES.indexOf(needed);

type Billed = {
  readonly account: string;
  readonly provider: string;
  readonly reference: string;
  readonly by: string;
  readonly at: string;
};

export type LinkMaker = { readonly kind: "member" | "system"; readonly id: string };

/** `mac` is the hex HMAC over the link's secret, its purpose and its ids (`src/accounts/links.ts`). */
type LinkMade = {
  readonly account: string;
  readonly member: string;
  readonly mac: string;
  readonly expires_at: string;
  readonly by: LinkMaker;
  readonly at: string;
};

/** `grant` is the hex HMAC over account, member and role, so that a role forged in the log is not accepted. */
type GrantedRole = { readonly role: Role; readonly grant: string };

/**
 * `email` is the commitment of the address. `address` is its keyed hash (`eml_…`), by which addresses are compared and
 * which names the stream of the claim.
 */
export type Addressed = { readonly email: Words; readonly address: string };

export type MembershipEvent =
  /** `member` is the id that the invited person will have. An invitation does not claim the e-mail address. */
  | { readonly type: "MemberInvited"; readonly data: LinkMade & Addressed & GrantedRole }
  | { readonly type: "InvitationWithdrawn"; readonly data: { account: string; member: string; at: string } }
  | {
      readonly type: "MemberAdded";
      readonly data: {
        account: string;
        member: string;
        password: Sealed;
        client: Commitment;
        invited_by: LinkMaker | null;
        at: string;
      } & Addressed &
        GrantedRole;
    }
  /** By `address`, the claim of the address is released from this event alone, also after a crash. */
  | { readonly type: "MemberRemoved"; readonly data: { account: string; member: string; address: string; at: string } }
  | {
      readonly type: "MemberRoleChanged";
      readonly data: GrantedRole & { account: string; member: string; previous_role: Role; at: string };
    }
  | { readonly type: "ResetLinkMade"; readonly data: LinkMade }
  /** The member's epoch becomes `epoch`: every session of an earlier epoch ends, except the session `keeps`. */
  | {
      readonly type: "PasswordChanged";
      readonly data: {
        account: string;
        member: string;
        password: Sealed;
        epoch: number;
        client: Commitment;
        /** The id of the session that stays open; null after a reset by link, which ends all sessions. */
        keeps: string | null;
        /** Who made the reset link; null if the member gave the current password instead. */
        reset_by: LinkMaker | null;
        at: string;
      };
    }
  | {
      readonly type: "SessionsEnded";
      readonly data: { account: string; member: string; epoch: number; keeps: string; at: string };
    };

export type AccountEvent =
  | {
      readonly type: "AccountOpened";
      readonly data: { account: string; name: string; plan: string; time_zone: string; at: string };
    }
  | {
      readonly type: "AccountChanged";
      readonly data: { account: string; changes: { name?: string; time_zone?: string }; at: string };
    }
  | MembershipEvent
  /** Keys are recorded in the account's stream, so that creating several at once cannot exceed their limit. */
  | {
      readonly type: "ApiKeyCreated";
      readonly data: {
        account: string;
        key_id: string;
        name: string;
        role: KeyRole;
        digest: string;
        last4: string;
        expires_at: string | null;
        at: string;
      };
    }
  | { readonly type: "ApiKeyRevoked"; readonly data: { account: string; key_id: string; at: string } }
  | { readonly type: "PlanChanged"; readonly data: Billed & { plan: string } }
  /** At the time `from` the plan changes to `plan` without another record. */
  | { readonly type: "DowngradeScheduled"; readonly data: Billed & { plan: string; from: string } }
  | { readonly type: "DowngradeCancelled"; readonly data: Billed }
  | {
      readonly type: "SubscriptionChanged";
      readonly data: Billed & { status: "active" | "past_due" | "cancelled"; customer: string };
    }
  /** `blocks` is the total that the provider was told for `month` (YYYY-MM); a begun block of overage counts whole. */
  | {
      readonly type: "OverageReported";
      readonly data: { account: string; provider: string; month: string; blocks: number; at: string };
    };

/** A claim carries all that opening the account needs, so that a reactor can open the account after a crash. */
export type EmailEvent =
  | {
      readonly type: "EmailClaimed";
      readonly data: {
        account: string;
        member: string;
        /** Null if the claim accepts an invitation instead of opening an account. */
        opens: { name: string; plan: string; time_zone: string; grant: string } | null;
        password: Sealed;
        client: Commitment;
        at: string;
      } & Addressed;
    }
  | { readonly type: "EmailReleased"; readonly data: { account: string; member: string; at: string } };

export type SessionEvent =
  | {
      readonly type: "SessionOpened";
      readonly data: {
        account: string;
        member: string;
        /** The member's epoch when the login began: if the password changes meanwhile, the session is never valid. */
        epoch: number;
        expires_at: string;
        mac: string;
        client: Commitment;
        /** Left out for a session of a browser. */
        made_by?: "command-line";
        at: string;
      };
    }
  | { readonly type: "SessionClosed"; readonly data: { account: string; member: string; at: string } };

/**
 * Stream `apikey-<key_id>`; the id is derived from the key's hash, so a presented key leads to its account or agent.
 */
export type ApiKeyEvent =
  | {
      readonly type: "ApiKeyIssued";
      readonly data: { account: string; key_id: string; made_by: string; at: string };
    }
  | {
      readonly type: "AgentKeyIssued";
      readonly data: { account: string; agent_id: string; key_id: string; made_by: string; at: string };
    }
  /** The first use on `day`, YYYY-MM-DD in the account's time zone. */
  | {
      readonly type: "ApiKeyUsed";
      readonly data: { account: string; key_id: string; day: string; at: string };
    };
