import { ACTION_NAME_MAX } from "../../../domain/evidence/action-name.ts";
import { BUNDLE_STATUSES, STEP_STATUSES } from "../../../projections/schemas/bundles.ts";
import { GATES } from "../../../projections/schemas/decided.ts";
import { STEPS_MAX } from "../../bundles/plan.ts";
import type { StepTimes } from "../../bundles/step-times.ts";
import { BYTES_REMOVED, nonBlank, nullable, nullableTime, object, text, time } from "../../http/json-schema.ts";
import { LISTING_QUERY } from "../../http/listing.ts";
import { named } from "../../http/named-schemas.ts";
import type { JsonSchema } from "../../http/route.ts";
import { severalOf } from "../../http/several-values.ts";
import { TIME_RANGE_QUERY } from "../../http/time-range.ts";
import { RESULT, RUN_FIELDS } from "../agents/request-input.ts";
import type { BundleSummary, StepSummary } from "./bundle-summary.ts";

const NAME_LENGTH_MAX = 100;
const COMMENT_LENGTH_MAX = 1_000;

const ID_LENGTH_MAX = 128;
const idOf = (description: string) =>
  ({ type: "string", minLength: 1, maxLength: ID_LENGTH_MAX, description }) as const satisfies JsonSchema;

export const LIST_QUERY = {
  status: severalOf(BUNDLE_STATUSES, "Only bundles with one of these statuses"),
  agent_id: idOf("Only bundles of this agent"),
  policy_id: idOf("Only bundles on which this policy decided"),
  gate: { enum: GATES, description: "Only bundles whose last request this gate has refused" },
  from: { ...TIME_RANGE_QUERY.from, description: "First asked for at this time or later" },
  to: { ...TIME_RANGE_QUERY.to, description: "First asked for before this time" },
  ...LISTING_QUERY,
} as const satisfies Record<string, JsonSchema>;

export const BUNDLE_BODY = named("NewBundle", {
  type: "object",
  required: ["steps"],
  additionalProperties: false,
  properties: {
    name: { ...nonBlank(NAME_LENGTH_MAX), description: "Shown to people" },
    steps: {
      type: "array",
      minItems: 1,
      maxItems: STEPS_MAX,
      items: {
        type: "object",
        required: ["action", "payload"],
        additionalProperties: false,
        properties: {
          action: { type: "string", minLength: 1, maxLength: ACTION_NAME_MAX },
          payload: {
            description:
              'Any JSON: the body that the target receives; {"$result": {"step": 0, "pointer": "/id"}} anywhere in it is ' +
              "what the target of that earlier step answered, at the JSON Pointer. At most 100 of them; with them it has " +
              "at most 256 KiB",
          },
        },
      },
      description: "Executed in this order; an irreversible action can only be the last one",
    },
    ...RUN_FIELDS,
  },
  examples: [
    {
      name: "Order for Ada",
      steps: [
        { action: "order.create", payload: { sku: "lamp" } },
        { action: "mail.send", payload: { to: "ada@example.com", order: { $result: { step: 0, pointer: "/id" } } } },
      ],
    },
  ],
});

export const RESOLVE_BODY = named("StepOutcome", {
  type: "object",
  required: ["comment"],
  additionalProperties: false,
  properties: {
    comment: { ...nonBlank(COMMENT_LENGTH_MAX), description: "How it was undone" },
  },
  examples: [{ comment: "Cancelled in the shop by hand" }],
});

const step = {
  index: { type: "integer", description: "Its place: 0, 1, 2 …" },
  action: text,
  status: {
    enum: STEP_STATUSES,
    description:
      "skipped: never sent; failed: refused by its target, or did not reach it; unknown: it may have been executed",
  },
  event_id: nullable("string", "Null until it is started"),
  compensation_event_id: nullable(
    "string",
    "The event of the undo; null if none was started, because nothing had to be sent",
  ),
  reversibility: { enum: ["reversible", "compensable", "irreversible"] },
  compensation: nullable("string", "The action that undoes it"),
  cost_eur: nullable(
    "number",
    "The estimate; the cost once the step has ended, including its undo once the bundle has ended; null if skipped",
  ),
  refusal: {
    ...named("StepRefusal", object({ code: text, detail: text })),
    type: ["object", "null"],
    description: "Why it was never sent",
  },
  resolution: {
    ...named("StepResolution", object({ by: text, comment: text, at: time })),
    type: ["object", "null"],
    description: "Set if a person has undone it by hand",
  },
} satisfies Record<keyof StepSummary, JsonSchema>;

const TIMES = {
  started_at: nullableTime,
  ended_at: nullableTime,
  undo_started_at: nullableTime,
  undo_ended_at: {
    ...nullableTime,
    description: "When the rollback was done with it, however that ended and also if it needed no undo",
  },
  undone_at: { ...nullableTime, description: "The same, or later when a person marked it as undone by hand" },
} satisfies Record<keyof StepTimes, JsonSchema>;

/** Only a read of one bundle has them. */
const sentStep: Record<string, JsonSchema> = {
  endpoint_id: { type: "string", description: "Where it is sent; in the answer to a read alone" },
  times: { ...named("StepTimes", object(TIMES)), description: "In the answer to a read alone" },
};

const LEFT = named("StepLeft", object({ index: { type: "integer" }, action: text, why: text }));

const summary = {
  id: text,
  name: nullable("string"),
  status: { enum: BUNDLE_STATUSES },
  agent_id: text,
  verdict: { type: "object" },
  cost_eur: nullable("number", "The estimate; the cost once it has ended"),
  run_id: nullable("string"),
  created_at: time,
  ended_at: nullableTime,
} satisfies Partial<Record<keyof BundleSummary, JsonSchema>>;

const sometimes = {
  approval_id: { type: "string", description: "If it is or was held for approval" },
  reason: { type: "string", description: "Why it is rolled back, was cancelled, or could no longer be cancelled" },
  hold_outcome: { enum: ["rejected", "expired", "cancelled"], description: "If it was held and never started" },
} satisfies Record<Exclude<keyof BundleSummary, keyof typeof summary | "steps">, JsonSchema>;

const shaped = (members: Record<string, JsonSchema>, more: Record<string, JsonSchema>): JsonSchema => ({
  ...object(members),
  properties: { ...members, ...more },
});

export const BUNDLE_SUMMARY: JsonSchema = named(
  "BundleSummary",
  shaped({ ...summary, steps: { type: "array", items: named("BundleStepSummary", object(step)) } }, sometimes),
);

export const BUNDLE: JsonSchema = named(
  "Bundle",
  shaped(
    {
      ...summary,
      steps: { type: "array", items: named("BundleStep", shaped({ ...step, result: RESULT }, sentStep)) },
      payload_erased_at: nullableTime,
    },
    {
      ...sometimes,
      left: { type: "array", items: LEFT, description: "What a person has to undo by hand after rollback_incomplete" },
    },
  ),
);

export const ERASED: JsonSchema = named(
  "ErasedBundle",
  object({ bundle_id: text, erased_at: time, bytes_removed: BYTES_REMOVED }),
);
