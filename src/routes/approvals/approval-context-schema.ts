import { REVERSIBILITIES } from "../../../domain/action/definition.ts";
import { APPROVAL_STATUSES } from "../../../projections/schemas/approvals.ts";
import { integer, nullable, nullableTime, object, text, time } from "../../http/json-schema.ts";
import { named } from "../../http/named-schemas.ts";
import type { JsonSchema } from "../../http/route.ts";
import { APPROVAL_TARGET } from "./approval-target.ts";

const orNull = (schema: JsonSchema): JsonSchema => ({ ...schema, type: ["object", "null"] });

const FIELD = named(
  "ApprovalField",
  object(
    {
      pointer: { type: "string", description: "JSON Pointer in the payload; of a bundle, after the step's index" },
      label: { type: "string", description: "The action's label, or the names on the way" },
      value: { description: "Null if it is hidden" },
      hidden: { type: "boolean" },
      cut: { type: "boolean", description: "True if only the beginning is here" },
    },
    ["pointer", "label", "value", "hidden"],
  ),
);
const FIELDS: JsonSchema = { type: "array", items: FIELD };

const STEP = object({
  index: integer,
  action: text,
  title: nullable("string"),
  endpoint: APPROVAL_TARGET,
  cost_eur: nullable("number"),
  reversibility: { enum: REVERSIBILITIES },
  compensation: orNull(object({ action: text, endpoint: APPROVAL_TARGET })),
});

const TODAY = object({
  requests: integer,
  delivered: integer,
  refused: integer,
  rejected: integer,
  failed: integer,
  cost_eur: { type: "number", description: "Spent and reserved, without what was refused" },
  spent_eur: { type: "number", description: "By requests that have ended" },
  reserved_eur: { type: "number", description: "For requests of today that have not ended" },
  more: { type: "boolean", description: "True if there were more requests than are counted" },
});

const LAST = object({ event_id: text, action: text, status: text, cost_eur: nullable("number"), received_at: time });

export const APPROVAL_CONTEXT: JsonSchema = named(
  "ApprovalContext",
  object({
    id: text,
    status: { enum: APPROVAL_STATUSES },
    title: {
      type: "string",
      description:
        "The sentence that is decided; without a template, the summary. Of a bundle: what is asked for, in how many steps, and " +
        "which of them cannot be undone",
    },
    fields: { ...FIELDS, description: "What is sent, value by value; empty if the payload is gone or is not JSON" },
    fields_left_out: integer,
    run: { type: ["string", "null"], description: "The agent's own id of the task to which the request belongs" },
    proposal: { type: ["string", "null"], description: "Why the change was asked for, in the words of who asked" },
    steps: { type: ["array", "null"], items: STEP, description: "Of a bundle; else null" },
    previous: {
      ...orNull(
        object({ approval_id: text, decided_at: nullableTime, fields: { ...FIELDS, type: ["array", "null"] } }),
      ),
      description:
        "The one of the same action and agent that was approved last and used, among the account's last 200; of a decided " +
        "approval, the last before its decision",
    },
    undo: {
      ...orNull(
        object({ reversibility: { enum: REVERSIBILITIES }, action: nullable("string"), endpoint: APPROVAL_TARGET }),
      ),
      description:
        "How it can be undone, and by which action; of a bundle, its least reversible step. Null if it is unknown",
    },
    budget: {
      ...orNull(
        object({
          settled: { type: "number", description: "Euros spent" },
          reserved: { type: "number", description: "Euros set aside, this request's included if it has its place" },
          after: { type: "number", description: "Euros spent and set aside once this is approved" },
          ceiling: { type: ["number", "null"], description: "The policy's budget of the day; null without one" },
        }),
      ),
      description: "Of the policy that holds it, on the day of its place",
    },
    agent: orNull(object({ id: text, today: TODAY, last: { type: "array", items: LAST } })),
    eligible: object({
      can: { type: "boolean", description: "True if the caller's approval would count" },
      why: { type: ["string", "null"], description: "If not: why" },
      reveal: { type: "boolean", description: "True if the caller may have the hidden fields shown" },
    }),
    digest: text,
    shown_digest: {
      type: "string",
      description: "Of the approval as this caller is shown it: send both with the decision",
    },
  }),
);
