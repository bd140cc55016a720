import { accept, type Decider, reject } from "../decider.ts";
import { defined } from "../defined.ts";
import type { Words } from "../personal/words.ts";
import { sameJson } from "../same-json.ts";
import type { PolicyCommand } from "./commands.ts";
import type { PolicyDefinition } from "./definition.ts";
import type { PolicyEvent } from "./events.ts";

export type PublishedPolicy = {
  readonly phase: "published";
  readonly policyId: string;
  readonly account: string;
  readonly version: number;
  readonly definition: PolicyDefinition;
  readonly createdBy: string;
  readonly createdAt: string;
  /** Why this version was published; missing if nobody wrote it. */
  readonly reason?: Words;
};

export type Policy = { readonly phase: "absent" } | PublishedPolicy;

export type PolicyRejection = "not-found";

export const policy: Decider<Policy, PolicyCommand, PolicyEvent, PolicyRejection> = {
  initial: { phase: "absent" },

  evolve(state, { type, data }) {
    // The stream also has `SlotFreed`, which changes no state of the policy.
    if (type !== "PolicyPublished") return state;
    return {
      phase: "published",
      policyId: data.policy_id,
      account: data.account,
      version: data.version,
      definition: data.definition,
      createdBy: data.created_by,
      createdAt: data.at,
      ...defined({ reason: data.reason }),
    };
  },

  decide({ type, policyId, account, definition, reason, by, at }, state) {
    const isThere = state.phase === "published";
    if (isThere && state.account !== account) return reject("not-found");
    if (type === "PublishPolicyVersion" && !isThere) return reject("not-found");
    // An unchanged definition, or a repeat of the first command, makes no new version.
    if (isThere && (type === "PublishPolicy" || sameJson(state.definition, definition))) return accept();
    const version = isThere ? state.version + 1 : 1;
    const data = { policy_id: policyId, account, version, definition, created_by: by, at };
    return accept({ type: "PolicyPublished", data: { ...data, ...defined({ reason }) } });
  },
};
