import { SCOPE_PATTERNS_MAX } from "../../../domain/agent/scope.ts";
import type { AgentDocument } from "../../../projections/agents.ts";
import { nonBlank, time } from "../../http/json-schema.ts";
import { named } from "../../http/named-schemas.ts";
import type { JsonSchema } from "../../http/route.ts";

const PATTERN_LENGTH_MAX = 102;

const NAME = nonBlank(100);
const POLICY = { type: ["string", "null"], maxLength: 64 } as const satisfies JsonSchema;
const SCOPE = named("AgentScope", {
  type: "object",
  required: ["actions"],
  additionalProperties: false,
  properties: {
    actions: {
      type: "array",
      maxItems: SCOPE_PATTERNS_MAX,
      uniqueItems: true,
      items: { type: "string", minLength: 1, maxLength: PATTERN_LENGTH_MAX },
      description: "names of actions; refund.* for all that begin with refund., * for every one",
    },
  },
});

export const NEW_AGENT = named("NewAgent", {
  type: "object",
  required: ["name", "scope"],
  additionalProperties: false,
  properties: { name: NAME, policy_id: POLICY, scope: SCOPE },
  examples: [{ name: "support", scope: { actions: ["refund.*"] } }],
});
export const CHANGES = named("AgentChanges", {
  type: "object",
  additionalProperties: false,
  properties: { name: NAME, policy_id: POLICY, scope: SCOPE },
  examples: [{ name: "support at night", scope: { actions: ["refund.create"] } }],
});

const SHOWN = {
  id: { type: "string" },
  name: NAME,
  policy_id: POLICY,
  scope: SCOPE,
  status: { enum: ["active", "suspended"] },
  suspended_reason: { type: ["string", "null"] },
  suspended_at: { type: ["string", "null"], format: "date-time" },
  last4: { type: "string" },
  created_at: time,
} satisfies Record<"id" | Exclude<keyof AgentDocument, "account">, JsonSchema>;
const KEY_SINCE: JsonSchema = { ...time, description: "Since when it has this key; not in lists" };
export const AGENT: JsonSchema = named("Agent", {
  type: "object",
  required: Object.keys(SHOWN),
  properties: { ...SHOWN, key_since: KEY_SINCE },
});
const KEY: JsonSchema = { type: "string", description: "shown only once" };
export const CREATED: JsonSchema = named("CreatedAgent", {
  type: "object",
  required: [...Object.keys(SHOWN), "key"],
  properties: { ...SHOWN, key_since: KEY_SINCE, key: KEY },
});
export const ROTATED: JsonSchema = named("RotatedAgentKey", {
  type: "object",
  required: ["key", "last4"],
  properties: { key: KEY, last4: { type: "string" } },
});
