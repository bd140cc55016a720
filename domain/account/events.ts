import type { Commitment } from "../personal/events.ts";
import type { Sealed } from "../sealed.ts";

/** Each role includes the ones after it. */
export const ROLES = ["owner", "admin", "approver", "auditor", "viewer"] as const;
export type Role = (typeof ROLES)[number];

/** What a key can hold: deciding needs a human, and only a human owns. */
export const KEY_ROLES = ["admin", "auditor", "viewer"] as const satisfies readonly Role[];
export type KeyRole = (typeof KEY_ROLES)[number];

export const roleIncludes = (role: Role, needed: Role): boolean => ROLES.indexOf(role) <= ROLES.indexOf(needed);

/** Who bills, and by which of its sessions or events; `by` is a member, or the provider. */
type Billed = {
  readonly account: string;
  readonly provider: string;
  readonly reference: string;
  readonly by: string;
  readonly at: string;
};

/** Who made a one-time link: an owner, or the operator on the machine. */
export type LinkMaker = { readonly kind: "member" | "system"; readonly id: string };

/** A one-time link that was made. `mac`: hex HMAC over the token and over whom it stands for (`src/accounts/links.ts`). */
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

/** Who belongs to an account, in its stream. */
export type MembershipEvent =
  /** `member`: the id that they will have. An invitation occupies no address. */
  | { readonly type: "MemberInvited"; readonly data: LinkMade & { readonly email: string } & GrantedRole }
  | { readonly type: "InvitationWithdrawn"; readonly data: { account: string; member: string; at: string } }
  | {
      readonly type: "MemberAdded";
      readonly data: {
        account: string;
        member: string;
        email: string;
        password: Sealed;
        /** Where the request came from that made them a member. */
        client: Commitment;
        /** Null: this member opened the account. */
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
  /** Replaces an earlier one of the member. */
  | { readonly type: "ResetLinkMade"; readonly data: LinkMade }
  /** Ends every session of an earlier epoch but `keeps`. */
  | {
      readonly type: "PasswordChanged";
      readonly data: {
        account: string;
        member: string;
        password: Sealed;
        epoch: number;
        client: Commitment;
        /** The session that asked; null after a reset. */
        keeps: string | null;
        /** Who made the reset link; null when the member knew the password before. */
        reset_by: LinkMaker | null;
        at: string;
      };
    }
  /** The same, without a new password. */
  | {
      readonly type: "SessionsEnded";
      readonly data: { account: string; member: string; epoch: number; keeps: string; at: string };
    };

/** Stream `account-<id>`. */
export type AccountEvent =
  | {
      readonly type: "AccountOpened";
      readonly data: { account: string; name: string; plan: string; time_zone: string; at: string };
    }
  | MembershipEvent
  /** A key belongs to the account's own stream: its limit and its end are decided in one append. */
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
  /** At once. */
  | { readonly type: "PlanChanged"; readonly data: Billed & { plan: string } }
  /** The plan holds until `from`, and then the one that is named here, without another record. */
  | { readonly type: "DowngradeScheduled"; readonly data: Billed & { plan: string; from: string } }
  | { readonly type: "DowngradeCancelled"; readonly data: Billed }
  /** How it stands with the provider, and what the account is called there. */
  | {
      readonly type: "SubscriptionChanged";
      readonly data: Billed & { status: "active" | "past_due" | "cancelled"; customer: string };
    }
  /** The provider has been told of so many begun blocks of a month (YYYY-MM), in all. */
  | {
      readonly type: "OverageReported";
      readonly data: { account: string; provider: string; month: string; blocks: number; at: string };
    };

/** Stream `email-<hash of the normalised address>`: one address is one member. Carries all that opening needs, so that
 * a crash between this append and the account's is finished by the process manager. */
export type EmailEvent =
  | {
      readonly type: "EmailClaimed";
      readonly data: {
        account: string;
        member: string;
        email: string;
        /** Set when the claim opens an account; null when it accepts an invitation to one. */
        opens: { name: string; plan: string; time_zone: string; grant: string } | null;
        password: Sealed;
        client: Commitment;
        at: string;
      };
    }
  | { readonly type: "EmailReleased"; readonly data: { account: string; member: string; at: string } };

/** Stream `session-<hash of the token>`. */
export type SessionEvent =
  | {
      readonly type: "SessionOpened";
      readonly data: {
        account: string;
        member: string;
        /** The member's when the password was checked (`PasswordChanged`). */
        epoch: number;
        expires_at: string;
        /** Hex HMAC over the token and the members above (`src/accounts/credential-hashes.ts`). */
        mac: string;
        client: Commitment;
        at: string;
      };
    }
  | { readonly type: "SessionClosed"; readonly data: { account: string; member: string; at: string } };

/** Stream `apikey-<id>`; the id is derived from the key's hash, so that a key finds its account, or its agent. Whether
 * it is still good says the account, or the agent. */
export type ApiKeyEvent =
  /** `made_by`: the member who made the key, by hand or with keys that they had made. */
  | {
      readonly type: "ApiKeyIssued";
      readonly data: { account: string; key_id: string; made_by: string; at: string };
    }
  | {
      readonly type: "AgentKeyIssued";
      readonly data: { account: string; agent_id: string; key_id: string; made_by: string; at: string };
    };
