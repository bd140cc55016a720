import { EUR_MAX } from "../../domain/gate/cost.ts";
import type { LoopRule } from "../../domain/ledger/loop.ts";
import type { ApprovalRule, DenyRule, PolicyDefinition } from "../../domain/policy/definition.ts";
import { named } from "../http/named-schemas.ts";
import type { JsonSchema } from "../http/route.ts";

type Members<T> = JsonSchema & { readonly properties: Readonly<Record<keyof T, JsonSchema>> };

/** The API describes a definition by this list, and `policy-input.ts` refuses any other field. */
export const POLICY_FIELDS = {
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
  cost: named("Cost", {
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
  }),
  schema: {
    type: ["object", "boolean"],
    description: "JSON Schema (2020-12, or draft-07 by $schema) of the payload; patterns are RE2",
  },
  deny: {
    type: "array",
    items: named("DenyRule", {
      type: "object",
      required: ["name", "when"],
      additionalProperties: false,
      properties: {
        name: { type: "string" },
        when: {
          type: "string",
          description: "CEL over payload, headers, source, agent, action and cost_eur; true refuses, an error as well",
          examples: ["payload.data.object.amount > 50000"],
        },
      },
    }),
  },
  redact: { type: "array", items: { type: "string" }, description: "Field paths whose values are not shown" },
  loop: named("LoopRule", {
    type: "object",
    additionalProperties: false,
    properties: {
      max_identical: { type: "integer", description: "Identical requests in any window_s seconds, 1 to 1000" },
      window_s: { type: "integer", description: "1 to 86400" },
      max_per_run: { type: "integer", description: "Requests of one run_id, 1 to 1000000" },
      max_depth: { type: "integer", description: "How deep agents may call agents, 1 to 100; 1: not at all" },
    },
    description: "Stops loops; max_identical and window_s are given together",
  }),
  approval: named("ApprovalRule", {
    type: "object",
    required: ["expires_after_s"],
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
  }),
  protected: {
    type: "boolean",
    description: "True: a change that weakens the policy waits until the policy's own approvers approve it",
  },
} as const satisfies Readonly<Record<keyof PolicyDefinition, JsonSchema>> & {
  readonly approval: Members<ApprovalRule>;
  readonly loop: Members<LoopRule>;
  readonly deny: JsonSchema & { readonly items: Members<DenyRule> };
};
