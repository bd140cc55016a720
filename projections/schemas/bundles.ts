import type { StepRefusal } from "../../domain/bundle/events.ts";
import type { BundleDocument, BundleStepDocument } from "../bundles.ts";
import { GATES, ORIGIN, VERDICT } from "./decided.ts";
import { closed, count, type JsonSchema, list, oneOf, optional, orNull, text, time } from "./json-schema.ts";
import type { PublishedView } from "./published-view.ts";
import { ACCOUNT, reason, words } from "./words.ts";

export const BUNDLE_STATUSES: readonly BundleDocument["status"][] = [
  "blocked",
  "held",
  "running",
  "committed",
  "rolling_back",
  "rolled_back",
  "rollback_incomplete",
  "cancelled",
];
export const STEP_STATUSES: readonly BundleStepDocument["status"][] = [
  "pending",
  "running",
  "succeeded",
  "failed",
  "unknown",
  "compensated",
  "compensation_failed",
  "skipped",
];
const REVERSIBILITIES: readonly BundleStepDocument["reversibility"][] = ["reversible", "compensable", "irreversible"];
const UNDO_OUTCOMES: readonly NonNullable<BundleStepDocument["undo"]>[] = [
  "compensated",
  "not-needed",
  "failed",
  "impossible",
];
const HOLD_OUTCOMES: readonly NonNullable<BundleDocument["hold_outcome"]>[] = ["rejected", "expired", "cancelled"];

const micro = (description: string): JsonSchema => ({
  type: "integer",
  minimum: 0,
  description: `${description} Micro-euros: 1,000,000 are 1 euro.`,
});

const microOrLess = (description: string): JsonSchema => {
  const { minimum: _, ...schema } = micro(description);
  return schema;
};

const REFUSAL = closed<StepRefusal>("Why the step was never sent.", {
  code: text("A code for programs."),
  detail: text("A sentence for a person."),
});

const RESOLUTION = closed<NonNullable<BundleStepDocument["resolution"]>>("A person has undone it.", {
  by: text("The member who confirmed it, mem_…."),
  comment: words("The member's comment."),
  at: time("When."),
});

const STEP = closed<BundleStepDocument>("One step with its outcome.", {
  index: count("Its index, from 0."),
  action: text("The action's name."),
  endpoint_id: text("The endpoint's id, end_…."),
  reversibility: oneOf(
    REVERSIBILITIES,
    "reversible: no undo is needed; compensable: its compensation undoes it; irreversible: nothing does.",
  ),
  compensation: orNull(text("The action that undoes it."), "none can."),
  status: oneOf(
    STEP_STATUSES,
    "unknown: it may have been done. compensated: it was undone, perhaps by a person, or did not need to be. skipped: " +
      "it was never sent.",
  ),
  event_id: orNull(text("The event that carries it, evt_…; events.v3 has it."), "it was not started."),
  compensation_event_id: orNull(text("The event of its undo, evt_…."), "none was started."),
  started_at: orNull(time("When its start was recorded."), "it was not started."),
  ended_at: orNull(time("When its outcome was recorded."), "it has not ended."),
  cost: orNull(
    micro("The estimated cost; after its end the actual one, including the compensation's once the bundle has ended."),
    "it is unknown, or the step was never sent.",
  ),
  compensation_cost: orNull(microOrLess("The compensation's cost; below zero, its refund."), "it has cost nothing."),
  undo: orNull(
    oneOf(
      UNDO_OUTCOMES,
      "The undo's outcome. not-needed: it had no effect, or none that has to be undone. impossible: it may have had an " +
        "effect that nothing undoes.",
    ),
    "it was not undone.",
  ),
  undone_at: orNull(time("When that was recorded."), "it was not undone."),
  refusal: orNull(REFUSAL, "it was sent, or is still pending."),
  resolution: orNull(RESOLUTION, "no person has undone it."),
});

export const bundlesView: PublishedView = {
  view: "bundles.v2",
  description: "One document for every bundle of actions, with its steps and their outcomes.",
  id: "The bundle's id, bun_….",
  documents: [
    closed<BundleDocument>("Several actions that are done, or undone, as one.", {
      account: ACCOUNT,
      status: oneOf(
        BUNDLE_STATUSES,
        "held: it waits for an approval; cancelled: it was not approved, or was stopped before its first step. " +
          "rollback_incomplete: some steps were not undone; left lists them.",
      ),
      name: orNull(text("The agent's name for it."), "it has no name."),
      origin: ORIGIN,
      agent_id: text("The agent that requested it, agt_…."),
      key: text("Its Idempotency-Key, by which a repeat is recognised."),
      steps: list(STEP, "Its steps, in their order."),
      run_id: orNull(text("The agent's id for its run."), "the agent named none."),
      verdict: VERDICT,
      policy_id: orNull(text("The policy that decided."), "there was none."),
      gate: orNull(oneOf(GATES, "The gate that refused its last request."), "none did."),
      cost: orNull(
        micro("The estimated cost; after its end the actual one."),
        "no cost could be, or had to be, determined.",
      ),
      approval_id: optional(text("The approval that it needs or needed, apr_…. Missing: none.")),
      reason: orNull(reason("Why it was rolled back, could not be, or was not begun."), "it was not."),
      hold_outcome: orNull(
        oneOf(HOLD_OUTCOMES, "How its hold ended."),
        "it was not held, is still held, or was approved.",
      ),
      left: list({ type: "integer", minimum: 0 }, "The indices of the steps that a person has to undo."),
      trace_id: text("The W3C trace id of the last decided request, 32 hex characters."),
      created_at: time("When its first request arrived."),
      ended_at: orNull(time("When it was refused or ended."), "it is under way."),
    }),
  ],
};
