import type { AccountEvent, Role } from "../domain/account/events.ts";
import { perDocument } from "./projection.ts";

export type MemberDocument = {
  readonly account: string;
  readonly email: string;
  readonly role: Role;
  readonly created_at: string;
};

/** The members of every account, for its list; removed ones are in the audit log. */
export const members = perDocument<MemberDocument>(
  {
    name: "members.v1",
    fields: { account: "text", created_at: "text" },
    indexes: [["account", "created_at"]],
  },
  ({ type, data }) => (type === "MemberAdded" || type === "MemberRemoved" ? String(data.member) : null),
  (_document, recorded) => {
    // `idOf` lets only these two through.
    const event = recorded as unknown as Extract<AccountEvent, { type: "MemberAdded" | "MemberRemoved" }>;
    if (event.type === "MemberRemoved") return null;
    const { account, email, role, at } = event.data;
    return { account, email, role, created_at: at };
  },
);
