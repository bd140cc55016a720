import { type Me, me } from "./api.ts";

/** A viewer reads everything but the audit. */
export const isAuditReader = (): boolean => me.value?.member.role !== "viewer";

/** Roles that decide on approvals. */
export const DECIDING_ROLES: readonly string[] = ["owner", "admin", "approver"];

type Approval = {
  readonly exclude_requester: boolean;
  readonly requesters: readonly string[];
  readonly votes: readonly { readonly member_id: string }[];
};

/** True for the one who asked, where the policy excludes them, and for the one who has voted. */
export const isExcluded = ({ exclude_requester, requesters, votes }: Approval, { member }: Me): boolean =>
  (exclude_requester && requesters.includes(member.id)) || votes.some((it) => it.member_id === member.id);
