import type { DefinitionRate } from "../../gates/definition-rate.ts";
import type { ValidatePolicy } from "../../gates/definitions.ts";
import { object, text } from "../../http/json-schema.ts";
import { named } from "../../http/named-schemas.ts";
import { ADMINS, type JsonSchema, type Route, route } from "../../http/route.ts";
import type { Aggregates } from "../../streams/aggregates.ts";
import { DEFINITION } from "./policy-schema.ts";
import { policyWarnings, WARNINGS } from "./policy-warnings.ts";

export type PolicyValidationDeps = {
  readonly aggregates: Pick<Aggregates, "load">;
  readonly compile: ValidatePolicy;
  /** Apart from the rate of publishing: who writes a policy can always publish it. */
  readonly validationRate: DefinitionRate;
};

const VALIDATION: JsonSchema = named(
  "PolicyValidation",
  object({
    errors: {
      type: "array",
      description: "What keeps it from being published; empty if nothing does",
      items: named("PolicyError", {
        type: "object",
        required: ["path", "message"],
        properties: {
          path: { type: "string", description: "A JSON Pointer into the definition" },
          message: text,
          name: { type: "string", description: "An unknown name in an expression or of a field, as it was written" },
          proposal: { type: "string", description: "The known name that was most likely meant" },
        },
      }),
    },
    warnings: WARNINGS,
  }),
);

export const policyValidationRoutes = (deps: PolicyValidationDeps): readonly Route[] => [
  route({
    method: "POST",
    path: "/v1/policies/validate",
    who: ADMINS,
    summary: "What publishing this definition would say; nothing is published or recorded",
    tag: "policies",
    // Unknown fields are errors of the answer, with a proposal each.
    body: { type: "object" },
    bodyShown: DEFINITION,
    answers: { 200: VALIDATION },
    always: true,
    async handle({ principal, body }) {
      const tooMany = deps.validationRate(principal.account, body);
      if (tooMany !== null) return tooMany;
      const compiled = await deps.compile(body, principal.account);
      if (!compiled.ok) return { status: 200, body: { errors: compiled.errors, warnings: [] } };
      const warnings = await policyWarnings(deps, principal.account, compiled.definition);
      return { status: 200, body: { errors: [], warnings } };
    },
  }),
];
