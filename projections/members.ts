import type { MembershipEvent, Role } from "../domain/account/events.ts";
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
};

const TYPES = ["MemberInvited", "InvitationWithdrawn", "MemberAdded", "MemberRemoved", "MemberRoleChanged"] as const;
type Shown = Extract<MembershipEvent, { type: (typeof TYPES)[number] }>;
const SHOWN: ReadonlySet<string> = new Set(TYPES);

/** Invited people have a document, removed members none; the audit log still shows them. */
export const members = perDocument<MemberDocument>(
  {
    name: "members.v2",
    fields: { account: "text", created_at: "text", open_until: "text" },
    indexes: [["account", "created_at"]],
  },
  ({ type, data }) => (SHOWN.has(type) ? String(data.member) : null),
  (document, recorded) => {
    const event = eventOf<Shown>(recorded);
    switch (event.type) {
      case "MemberInvited": {
        const { account, email, role, expires_at, at } = event.data;
        return { account, email, role, state: "invited", created_at: at, open_until: expires_at };
      }
      case "MemberAdded": {
        const { account, email, role, at } = event.data;
        return { account, email, role, state: "active", created_at: at, open_until: FOR_EVER };
      }
      case "MemberRoleChanged":
        return document === null ? null : { ...document, role: event.data.role };
      case "InvitationWithdrawn":
      case "MemberRemoved":
        return null;
    }
  },
);
