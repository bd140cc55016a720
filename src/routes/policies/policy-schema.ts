import { defined } from "../../../domain/defined.ts";
import { EUR_MAX } from "../../../domain/gate/cost.ts";
import type { JsonSchema } from "../../http/route.ts";
import { WARNINGS } from "./policy-warnings.ts";

const FIELDS = {
  name: { type: "string", description: "1 to 200 characters", examples: ["payments"] },
  budget_eur_day: { type: "number", description: "Euros a day in the account's time zone, at most 6 decimals" },
  rate_per_minute: { type: "integer", description: "Events in any 60 seconds" },
  require_fields: {
    type: "array",
    items: { type: "string" },
    description: "Field paths that must be there and not null: dotted, or a JSON Pointer",
    examples: [["data.object.id"]],
  },
  block_on_violation: { type: "boolean", description: "False observes only; left out: true" },
  cost: {
    type: "object",
    additionalProperties: false,
    properties: {
      fixed_eur: { type: "number" },
      pointer: { type: "string", description: "Field path of a number; value x scale is the cost in euros" },
      scale: { type: "number", description: "Left out: 1" },
      default_eur: {
        type: "number",
        description: `When the field is absent or null; anything else that is no amount from 0 to ${EUR_MAX} EUR, and a body that is no JSON, is refused`,
      },
      numeric_text: {
        type: "boolean",
        description: 'Numbers written as text count ("19.99": digits, a point, digits); left out: false',
      },
    },
    description: "Either fixed_eur, or pointer with scale, default_eur and numeric_text",
  },
  schema: {
    type: ["object", "boolean"],
    description: "JSON Schema (2020-12, or draft-07 by $schema) of the payload; patterns are RE2",
  },
  deny: {
    type: "array",
    items: {
      type: "object",
      additionalProperties: false,
      properties: {
        name: { type: "string" },
        when: {
          type: "string",
          description: "CEL over payload, headers, source, agent, action and cost_eur; true refuses, an error as well",
          examples: ["payload.data.object.amount > 50000"],
        },
      },
    },
  },
  redact: { type: "array", items: { type: "string" }, description: "Field paths whose values are not shown" },
  loop: {
    type: "object",
    additionalProperties: false,
    properties: {
      max_identical: { type: "integer", description: "Identical requests in any window_s seconds, 1 to 1000" },
      window_s: { type: "integer", description: "1 to 86400" },
      max_per_run: { type: "integer", description: "Requests of one run_id, 1 to 1000000" },
      max_depth: { type: "integer", description: "How deep agents may call agents, 1 to 100; 1: not at all" },
    },
    description: "Stops loops; max_identical and window_s are given together",
  },
  approval: {
    type: "object",
    additionalProperties: false,
    properties: {
      when: {
        type: "string",
        description:
          "CEL as in deny; true holds the request until people approve, an error refuses it; left out: always",
        examples: ["cost_eur >= 100.0"],
      },
      min_approvals: { type: "integer", description: "Distinct people, 1 to 10; left out: 1" },
      exclude_requester: {
        type: "boolean",
        description:
          "The person who replayed the request, or created the agent's key or the source's secret, cannot approve it; left out: false",
      },
      reveal: {
        type: "array",
        items: { type: "string" },
        description:
          "Roles (approver, auditor, viewer) that may reveal the fields of redact while they decide; that is recorded",
        examples: [["approver"]],
      },
      expires_after_s: { type: "integer", description: "60 to 2592000 seconds; then it is refused" },
    },
    description: "expires_after_s is required",
  },
  protected: {
    type: "boolean",
    description: "True: a change that weakens the policy waits until the policy's own approvers approve it",
  },
} as const satisfies Record<string, JsonSchema>;

const described = ({ description }: JsonSchema): JsonSchema => defined({ description });

/** Checks the names of the members only. */
const describedMembers = (
  it: JsonSchema & { readonly properties: Readonly<Record<string, JsonSchema>> },
): JsonSchema => ({
  ...described(it),
  properties: Object.fromEntries(Object.entries(it.properties).map(([name, field]) => [name, described(field)])),
  additionalProperties: false,
});

/**
 * The HTTP layer checks only that all fields are known. `src/gates/policy-input.ts` checks their values and lists every
 * error in one answer, `invalid-policy`; hence there are no types here.
 */
export const DEFINITION_BODY: JsonSchema = {
  type: "object",
  additionalProperties: false,
  properties: {
    ...Object.fromEntries(Object.entries(FIELDS).map(([name, field]) => [name, described(field)])),
    cost: describedMembers(FIELDS.cost),
    approval: describedMembers(FIELDS.approval),
    deny: {
      items: {
        properties: { name: {}, when: described(FIELDS.deny.items.properties.when) },
        additionalProperties: false,
      },
    },
    loop: describedMembers(FIELDS.loop),
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
    ...FIELDS,
  },
};

export const PUBLISHED: JsonSchema = {
  ...POLICY,
  required: [...(POLICY.required as readonly string[]), "warnings"],
  properties: { ...(POLICY.properties as object), warnings: WARNINGS },
};

/** Actions use the same cost rule. */
export const COST: JsonSchema = FIELDS.cost;
