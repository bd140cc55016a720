import type { MemberDocument } from "../members.ts";
import { closed, oneOf, text, time } from "./json-schema.ts";
import type { PublishedView } from "./published-view.ts";
import { ACCOUNT, ROLES } from "./words.ts";

export const membersView: PublishedView = {
  view: "members.v1",
  description: "The people who may sign in to an account. Whoever was removed is not here, but in the audit log.",
  id: "The member's id, mem_….",
  documents: [
    closed<MemberDocument>("A member.", {
      account: ACCOUNT,
      email: text("The address to sign in with, as it was given."),
      role: oneOf(ROLES, "What the member may do; each role includes the ones after it in this list."),
      created_at: time("When the member was added."),
    }),
  ],
};
