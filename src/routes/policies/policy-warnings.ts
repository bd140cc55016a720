import type { PolicyDefinition } from "../../../domain/policy/definition.ts";
import { named } from "../../http/named-schemas.ts";
import type { JsonSchema } from "../../http/route.ts";
import type { Aggregates } from "../../streams/aggregates.ts";
import { isApprover, peopleOf } from "../approvals/approval-people.ts";

export type PolicyWarning = { readonly path: string; readonly message: string };

export const WARNINGS: JsonSchema = {
  type: "array",
  items: named("PolicyWarning", {
    type: "object",
    required: ["path", "message"],
    properties: { path: { type: "string" }, message: { type: "string" } },
  }),
  description:
    "Parts of the policy that cannot work with the account's present members; the policy is published nevertheless",
};

/**
 * Warns if the account has too few approvers. If the requester may not approve, one more is needed, because the
 * requester (the person who made the key) may be one of the approvers.
 */
export const policyWarnings = async (
  deps: { readonly aggregates: Pick<Aggregates, "load"> },
  account: string,
  { approval }: PolicyDefinition,
): Promise<readonly PolicyWarning[]> => {
  if (approval === undefined) return [];
  const { min_approvals: needed = 1, exclude_requester: excludes = false } = approval;
  const people = await peopleOf(deps, account);
  const approvers = [...(people?.members.values() ?? [])].filter(isApprover).length;
  if (approvers >= needed + (excludes ? 1 : 0)) return [];
  const there = approvers === 1 ? "1 member can approve" : `${approvers} members can approve`;
  const wanted = `${needed} ${needed === 1 ? "approval" : "approvals"}`;
  const message = excludes
    ? `${there} in this account, and the requester, who may be one of them, is excluded: a request may never get ${wanted}. Invite another approver.`
    : `${there} in this account, and ${wanted} are needed: no request can be approved. Invite another approver.`;
  return [{ path: excludes ? "/approval/exclude_requester" : "/approval/min_approvals", message }];
};
