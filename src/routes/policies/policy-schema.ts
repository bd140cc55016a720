import { defined } from "../../../domain/defined.ts";
import { POLICY_FIELDS } from "../../gates/policy-fields.ts";
import type { JsonSchema } from "../../http/route.ts";
import { WARNINGS } from "./policy-warnings.ts";

const described = ({ description }: JsonSchema): JsonSchema => defined({ description });

/** An object's schema that checks the names of its members, and not their values. */
const describedMembers = (
  it: JsonSchema & { readonly properties: Readonly<Record<string, JsonSchema>> },
): JsonSchema => ({
  ...described(it),
  properties: Object.fromEntries(Object.entries(it.properties).map(([name, field]) => [name, described(field)])),
  additionalProperties: false,
});

/**
 * The schema checks only that all fields are known. `src/gates/policy-input.ts` checks the values and answers all
 * errors at once as `invalid-policy`, so the schema has no types.
 */
export const DEFINITION_BODY: JsonSchema = {
  type: "object",
  additionalProperties: false,
  properties: {
    ...Object.fromEntries(Object.entries(POLICY_FIELDS).map(([name, field]) => [name, described(field)])),
    cost: describedMembers(POLICY_FIELDS.cost),
    approval: describedMembers(POLICY_FIELDS.approval),
    deny: {
      items: {
        properties: { name: {}, when: described(POLICY_FIELDS.deny.items.properties.when) },
        additionalProperties: false,
      },
    },
    loop: describedMembers(POLICY_FIELDS.loop),
  },
  examples: [
    {
      name: "payments",
      budget_eur_day: 250,
      rate_per_minute: 60,
      require_fields: ["data.object.id"],
      cost: { fixed_eur: 0.02 },
      deny: [{ name: "no refunds over 500", when: "payload.data.object.amount > 50000" }],
      redact: ["data.object.card"],
      loop: { max_identical: 3, window_s: 600, max_per_run: 50 },
      approval: { when: "cost_eur >= 100.0", min_approvals: 2, exclude_requester: true, expires_after_s: 3600 },
    },
  ],
};

export const POLICY: JsonSchema = {
  type: "object",
  required: ["id", "name", "version", "created_at", "created_by"],
  properties: {
    id: { type: "string" },
    version: { type: "integer" },
    created_at: { type: "string", format: "date-time", description: "When this version was published" },
    created_by: { type: "string" },
    protection_lifts_at: {
      type: "string",
      format: "date-time",
      description: "When `protected` ends, if an operator has requested that on the service's machine",
    },
    ...POLICY_FIELDS,
  },
};

export const PUBLISHED: JsonSchema = {
  ...POLICY,
  required: [...(POLICY.required as readonly string[]), "warnings"],
  properties: { ...(POLICY.properties as object), warnings: WARNINGS },
};

/** The schema of the rule by which both policies and actions price a request. */
export const COST: JsonSchema = POLICY_FIELDS.cost;
