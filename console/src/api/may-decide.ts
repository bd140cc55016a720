import { type Me, me } from "./api.ts";
import { hasRight, type Right } from "./roles.ts";

/** Whether the member of this page has the right. */
export const mayIt = (right: Right): boolean => hasRight(me.value?.member.role ?? "", right);

type Approval = {
  readonly exclude_requester: boolean;
  readonly requesters: readonly string[];
  readonly votes: readonly { readonly member_id: string }[];
};

/** True for the one who asked, where the policy excludes them, and for the one who has voted. */
export const isExcluded = ({ exclude_requester, requesters, votes }: Approval, { member }: Me): boolean =>
  (exclude_requester && requesters.includes(member.id)) || votes.some((it) => it.member_id === member.id);
