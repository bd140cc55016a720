import { defined } from "../domain/defined.ts";
import type { Words } from "../domain/personal/words.ts";
import type { PolicyDefinition } from "../domain/policy/definition.ts";
import type { PolicyEvent } from "../domain/policy/events.ts";
import type { RecordedEvent } from "../domain/ports/event-log.ts";
import { eventOf, perDocument } from "./projection.ts";

export type PolicyDocument = {
  readonly account: string;
  readonly policy_id: string;
  readonly version: number;
  readonly definition: PolicyDefinition;
  readonly created_by: string;
  readonly created_at: string;
  /** Why this version was published; missing if nobody wrote it. */
  readonly reason?: Words;
};

/** `first_at` is the first version's time. Lists are sorted by it, so that a new version keeps the policy's place. */
export type NewestPolicyDocument = PolicyDocument & { readonly first_at: string };

const published = (recorded: RecordedEvent): PolicyEvent["data"] | null =>
  recorded.type === "PolicyPublished" ? eventOf<PolicyEvent>(recorded).data : null;

const documentOf = (data: PolicyEvent["data"]): PolicyDocument => ({
  account: data.account,
  policy_id: data.policy_id,
  version: data.version,
  definition: data.definition,
  created_by: data.created_by,
  created_at: data.at,
  ...defined({ reason: data.reason }),
});

export const policies = perDocument<NewestPolicyDocument>(
  {
    name: "policies.v1",
    fields: { account: "text", first_at: "text" },
    indexes: [["account", "first_at"]],
  },
  (event) => published(event)?.policy_id ?? null,
  (document, event) => {
    const data = published(event);
    return data === null ? document : { ...documentOf(data), first_at: document?.first_at ?? data.at };
  },
);

/** A document for each version of a policy, with the id `<policy>/<version>`. */
export const policyVersions = perDocument<PolicyDocument>(
  {
    name: "policy-versions.v1",
    fields: { account: "text", policy_id: "text", version: "number" },
    indexes: [["account", "policy_id", "version"]],
  },
  (event) => {
    const data = published(event);
    return data === null ? null : `${data.policy_id}/${data.version}`;
  },
  (document, event) => {
    const data = published(event);
    return data === null ? document : documentOf(data);
  },
);
