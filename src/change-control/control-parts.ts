import { hash } from "node:crypto";
import type { ActionDefinition } from "../../domain/action/definition.ts";
import type { Parts, PolicyPart } from "../../domain/change-control/configuration.ts";
import { canonicalJson } from "../../domain/evidence/canonical-json.ts";
import type { Json } from "../../domain/json.ts";
import type { PolicyDefinition } from "../../domain/policy/definition.ts";

export const controlsStream = (account: string): string => `controls-${account}`;

export const policyPart = ({ schema, ...definition }: PolicyDefinition): PolicyPart => ({
  ...definition,
  schema: schema === undefined ? null : hash("sha256", canonicalJson(schema as Json)), // A schema is JSON by its parser.
});

export const actionPart = ({ endpoint_id, policy_id, compensation, cost }: ActionDefinition): Parts["action"] => ({
  endpoint_id,
  policy_id: policy_id ?? null,
  compensation: compensation ?? null,
  cost: cost ?? null,
});
