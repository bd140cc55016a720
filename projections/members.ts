import type { MembershipEvent, Role, SessionEvent } from "../domain/account/events.ts";
import type { Words } from "../domain/personal/words.ts";
import { eventOf, perDocument } from "./projection.ts";

export const MEMBER_STATES = ["active", "invited"] as const;

const FOR_EVER = "9999-12-31T23:59:59.999Z";

export type MemberDocument = {
  readonly account: string;
  readonly email: Words;
  readonly role: Role;
  readonly state: (typeof MEMBER_STATES)[number];
  /** When the member joined without an invitation, or was invited. */
  readonly created_at: string;
  /** When the invitation expires; `FOR_EVER` for an active member, so that one condition finds both. */
  readonly open_until: string;
  /** When a session of the member was last opened, in a browser or from the command line; null before the first. */
  readonly last_sign_in_at: string | null;
};

const TYPES = [
  "MemberInvited",
  "InvitationWithdrawn",
  "MemberAdded",
  "MemberRemoved",
  "MemberRoleChanged",
  "SessionOpened",
] as const;
type Shown = Extract<MembershipEvent | SessionEvent, { type: (typeof TYPES)[number] }>;
const SHOWN: ReadonlySet<string> = new Set(TYPES);

/** Invited people have a document, removed members none; the audit log still shows them. */
export const members = perDocument<MemberDocument>(
  {
    name: "members.v3",
    fields: { account: "text", created_at: "text", open_until: "text" },
    indexes: [["account", "created_at"]],
  },
  ({ type, data }) => (SHOWN.has(type) ? String(data.member) : null),
  (document, recorded) => {
    const event = eventOf<Shown>(recorded);
    switch (event.type) {
      case "MemberInvited": {
        const { account, email, role, expires_at, at } = event.data;
        const open_until = expires_at;
        return { account, email, role, state: "invited", created_at: at, open_until, last_sign_in_at: null };
      }
      case "MemberAdded": {
        const { account, email, role, at } = event.data;
        const open_until = FOR_EVER;
        return { account, email, role, state: "active", created_at: at, open_until, last_sign_in_at: null };
      }
      case "MemberRoleChanged":
        return document === null ? null : { ...document, role: event.data.role };
      case "SessionOpened":
        return document === null ? null : { ...document, last_sign_in_at: event.data.at };
      case "InvitationWithdrawn":
      case "MemberRemoved":
        return null;
    }
  },
);
