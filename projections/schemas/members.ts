import { MEMBER_STATES, type MemberDocument } from "../members.ts";
import { closed, oneOf, orNull, time } from "./json-schema.ts";
import type { PublishedView } from "./published-view.ts";
import { ACCOUNT, ROLES, words } from "./words.ts";

export const membersView: PublishedView = {
  view: "members.v3",
  description:
    "The people who may sign in to an account, and those who are invited. Removed ones are only in the audit log.",
  id: "The member's id, mem_….",
  documents: [
    closed<MemberDocument>("A member.", {
      account: ACCOUNT,
      email: words("The address to sign in with."),
      role: oneOf(ROLES, "What the member may do; each role includes the ones after it in this list."),
      state: oneOf(MEMBER_STATES, "A member, or a person who is invited to become one."),
      created_at: time("When the member was added or invited."),
      open_until: time("When an invitation expires; in the year 9999 for a member."),
      last_sign_in_at: orNull(
        time("When the member last signed in, in a browser or from the command line."),
        "the member never did.",
      ),
    }),
  ],
};
