import type { Commitment } from "../personal/events.ts";
import type { Sealed } from "../sealed.ts";

/** Each role includes the ones after it. */
export const ROLES = ["owner", "admin", "approver", "auditor", "viewer"] as const;
export type Role = (typeof ROLES)[number];

/** A key can neither decide on approvals nor own an account: both need a person. */
export const KEY_ROLES = ["admin", "auditor", "viewer"] as const satisfies readonly Role[];
export type KeyRole = (typeof KEY_ROLES)[number];

export const roleIncludes = (role: Role, needed: Role): boolean => ROLES.indexOf(role) <= ROLES.indexOf(needed);

/** `reference` is a session or event of the provider; `by` is a member, or the provider. */
type Billed = {
  readonly account: string;
  readonly provider: string;
  readonly reference: string;
  readonly by: string;
  readonly at: string;
};

/** The maker of a one-time link: an owner, or the operator on the machine. */
export type LinkMaker = { readonly kind: "member" | "system"; readonly id: string };

/** `mac`: hex HMAC over the token and the member it is for (`src/accounts/links.ts`). */
type LinkMade = {
  readonly account: string;
  readonly member: string;
  readonly mac: string;
  readonly expires_at: string;
  readonly by: LinkMaker;
  readonly at: string;
};

/** `grant`: hex HMAC over the account, the member and the role (`src/accounts/credential-hashes.ts`). */
type GrantedRole = { readonly role: Role; readonly grant: string };

export type MembershipEvent =
  /** `member` is the id that the invited person will have. An invitation does not claim the address. */
  | { readonly type: "MemberInvited"; readonly data: LinkMade & { readonly email: string } & GrantedRole }
  | { readonly type: "InvitationWithdrawn"; readonly data: { account: string; member: string; at: string } }
  | {
      readonly type: "MemberAdded";
      readonly data: {
        account: string;
        member: string;
        email: string;
        password: Sealed;
        client: Commitment;
        /** Null for the member who opened the account. */
        invited_by: LinkMaker | null;
        at: string;
      } & GrantedRole;
    }
  /** Carries the address, so that its release can be finished from this event alone. */
  | { readonly type: "MemberRemoved"; readonly data: { account: string; member: string; email: string; at: string } }
  | {
      readonly type: "MemberRoleChanged";
      readonly data: GrantedRole & { account: string; member: string; previous_role: Role; at: string };
    }
  /** Replaces an earlier reset link of the member. */
  | { readonly type: "ResetLinkMade"; readonly data: LinkMade }
  /** Ends every session of an earlier epoch except `keeps`. */
  | {
      readonly type: "PasswordChanged";
      readonly data: {
        account: string;
        member: string;
        password: Sealed;
        epoch: number;
        client: Commitment;
        /** The session of the caller; null after a reset. */
        keeps: string | null;
        /** The maker of the reset link; null if the member gave the current password. */
        reset_by: LinkMaker | null;
        at: string;
      };
    }
  /** Ends sessions as `PasswordChanged` does, without a new password. */
  | {
      readonly type: "SessionsEnded";
      readonly data: { account: string; member: string; epoch: number; keeps: string; at: string };
    };

export type AccountEvent =
  | {
      readonly type: "AccountOpened";
      readonly data: { account: string; name: string; plan: string; time_zone: string; at: string };
    }
  | MembershipEvent
  /** A key is recorded in the account's stream, so that its limit and its end are decided in one append. */
  | {
      readonly type: "ApiKeyCreated";
      readonly data: {
        account: string;
        key_id: string;
        name: string;
        role: KeyRole;
        /** Hex HMAC over the key, the account, the role and the expiry (`src/accounts/credential-hashes.ts`). */
        digest: string;
        last4: string;
        expires_at: string | null;
        at: string;
      };
    }
  | { readonly type: "ApiKeyRevoked"; readonly data: { account: string; key_id: string; at: string } }
  /** Takes effect at once. */
  | { readonly type: "PlanChanged"; readonly data: Billed & { plan: string } }
  /** The current plan holds until `from`, then `plan` holds without another record. */
  | { readonly type: "DowngradeScheduled"; readonly data: Billed & { plan: string; from: string } }
  | { readonly type: "DowngradeCancelled"; readonly data: Billed }
  | {
      readonly type: "SubscriptionChanged";
      readonly data: Billed & { status: "active" | "past_due" | "cancelled"; customer: string };
    }
  /** `blocks`: all begun blocks of a month (YYYY-MM) that were reported to the provider. */
  | {
      readonly type: "OverageReported";
      readonly data: { account: string; provider: string; month: string; blocks: number; at: string };
    };

/**
 * Stream `email-<hash of the normalised address>`. A claim carries everything that opening needs, so that the process
 * manager can finish after a crash between this append and the account's.
 */
export type EmailEvent =
  | {
      readonly type: "EmailClaimed";
      readonly data: {
        account: string;
        member: string;
        email: string;
        /** Set if the claim opens an account; null if it accepts an invitation. */
        opens: { name: string; plan: string; time_zone: string; grant: string } | null;
        password: Sealed;
        client: Commitment;
        at: string;
      };
    }
  | { readonly type: "EmailReleased"; readonly data: { account: string; member: string; at: string } };

export type SessionEvent =
  | {
      readonly type: "SessionOpened";
      readonly data: {
        account: string;
        member: string;
        /** The member's epoch when the password was checked (`PasswordChanged`). */
        epoch: number;
        expires_at: string;
        /** Hex HMAC over the token and the fields above (`src/accounts/credential-hashes.ts`). */
        mac: string;
        client: Commitment;
        at: string;
      };
    }
  | { readonly type: "SessionClosed"; readonly data: { account: string; member: string; at: string } };

/**
 * Stream `apikey-<id>`. The id is derived from the key's hash, so that a key leads to its account or agent, whose
 * stream decides whether the key is valid.
 */
export type ApiKeyEvent =
  /** `made_by`: the member who made the key, by hand or with a key made by the same member. */
  | {
      readonly type: "ApiKeyIssued";
      readonly data: { account: string; key_id: string; made_by: string; at: string };
    }
  | {
      readonly type: "AgentKeyIssued";
      readonly data: { account: string; agent_id: string; key_id: string; made_by: string; at: string };
    };
