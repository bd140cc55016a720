import { defined } from "../../../domain/defined.ts";
import { POLICY_FIELDS } from "../../gates/policy-fields.ts";
import { nonBlank, REASON_LENGTH_MAX } from "../../http/json-schema.ts";
import { named } from "../../http/named-schemas.ts";
import type { JsonSchema } from "../../http/route.ts";
import { LEDGER } from "./policy-day.ts";
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

const REASON = {
  ...nonBlank(REASON_LENGTH_MAX),
  description: "Why this version is published; it is recorded and shown with the version",
};
const BASE_VERSION: JsonSchema = {
  type: "integer",
  minimum: 1,
  description:
    "The version that the change was written on; 409 `conflict` if another one is in force. Left out: whichever is in force is replaced",
};

/**
 * The schema checks only that all fields are known. `src/gates/policy-input.ts` checks the values and answers all
 * errors at once as `invalid-policy`, so the schema has no types; `DEFINITION` has them.
 */
const MEMBERS = {
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
};

export const NEW_POLICY_BODY: JsonSchema = {
  type: "object",
  additionalProperties: false,
  properties: { ...MEMBERS, reason: REASON },
};

export const NEW_VERSION_BODY: JsonSchema = {
  type: "object",
  additionalProperties: false,
  properties: { ...MEMBERS, reason: REASON, base_version: BASE_VERSION },
};

export type Publication = {
  readonly definition: unknown;
  readonly reason?: string;
  readonly base_version?: number;
};

export const publicationOf = (body: unknown): Publication => {
  // The schema of the body has checked these two.
  const { reason, base_version, ...definition } = body as Omit<Publication, "definition">;
  return { definition, ...defined({ reason: reason?.trim(), base_version }) };
};

/** The definition with the types of its values, for the published description. */
export const DEFINITION: JsonSchema = named("PolicyDefinition", {
  type: "object",
  required: ["name"],
  additionalProperties: false,
  properties: POLICY_FIELDS,
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
});

const published = (name: string, more: Readonly<Record<string, JsonSchema>>): JsonSchema =>
  named(name, {
    ...DEFINITION,
    properties: { ...POLICY_FIELDS, ...more },
    examples: [{ name: "payments", budget_eur_day: 250, reason: "The first month showed less than 200 a day" }],
  });

export const NEW_POLICY: JsonSchema = published("NewPolicy", { reason: REASON });
export const NEW_VERSION: JsonSchema = published("NewPolicyVersion", { reason: REASON, base_version: BASE_VERSION });

export const POLICY: JsonSchema = named("Policy", {
  type: "object",
  required: ["id", "name", "version", "created_at", "created_by"],
  properties: {
    id: { type: "string" },
    version: { type: "integer" },
    created_at: { type: "string", format: "date-time", description: "When this version was published" },
    created_by: { type: "string" },
    reason: { type: "string", description: "Why this version was published; missing if nobody wrote it" },
    protection_lifts_at: {
      type: "string",
      format: "date-time",
      description: "When `protected` ends, if an operator has requested that on the service's machine",
    },
    ledger: { ...LEDGER, description: "Of today; only in a list that was asked for it, and only with a budget" },
    ...POLICY_FIELDS,
  },
});

export const PUBLISHED: JsonSchema = named("PublishedPolicy", {
  ...POLICY,
  required: [...(POLICY.required as readonly string[]), "warnings"],
  properties: { ...(POLICY.properties as object), warnings: WARNINGS },
});

/** The schema of the rule by which both policies and actions price a request. */
export const COST: JsonSchema = POLICY_FIELDS.cost;
