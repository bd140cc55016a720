import type { StepRefusal } from "../../domain/bundle/events.ts";
import type { BundleDocument, BundleStepDocument } from "../bundles.ts";
import { ORIGIN, VERDICT } from "./decided.ts";
import { closed, count, type JsonSchema, list, oneOf, optional, orNull, text, time } from "./json-schema.ts";
import type { PublishedView } from "./published-view.ts";
import { ACCOUNT } from "./words.ts";

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

const REFUSAL = closed<StepRefusal>("Why it was never sent.", {
  code: text("For machines."),
  detail: text("A sentence for a person."),
});

const RESOLUTION = closed<NonNullable<BundleStepDocument["resolution"]>>("A person has taken it back by hand.", {
  by: text("Whose word it is, mem_…."),
  comment: text("What the member said of it."),
  at: time("When."),
});

const STEP = closed<BundleStepDocument>("One step and what became of it.", {
  index: count("Its place: 0, 1, 2 …"),
  action: text("The action's name."),
  endpoint_id: text("Where it is delivered, end_…."),
  reversibility: oneOf(REVERSIBILITIES, "What takes it back: nothing has to, its compensation, or nothing does."),
  compensation: orNull(text("The action that takes it back."), "none does."),
  status: oneOf(
    STEP_STATUSES,
    "How it stands. unknown: it may have been done, and nobody knows. compensated: taken back, also by hand, or nothing " +
      "of it had to be. skipped: it was never sent.",
  ),
  event_id: orNull(text("The event that carries it, evt_…; events.v2 has it."), "it was not started."),
  compensation_event_id: orNull(text("The event that takes it back, evt_…."), "none was started."),
  started_at: orNull(time("When its start was recorded."), "it was not started."),
  ended_at: orNull(time("When its outcome was recorded."), "it has not ended."),
  cost: orNull(
    micro(
      "What it is expected to cost, and once it has ended what it has cost; with its compensation once the bundle has.",
    ),
    "nobody knows, or it was never sent.",
  ),
  compensation_cost: orNull(
    microOrLess("What its compensation has cost; below zero what that has given back."),
    "nothing was paid for one.",
  ),
  undo: orNull(
    oneOf(
      UNDO_OUTCOMES,
      "What came of taking it back. not-needed: it did nothing, or nothing of it has to be taken back. impossible: it " +
        "may have done something that nothing takes back.",
    ),
    "it was not taken back.",
  ),
  undone_at: orNull(time("When that was recorded."), "it was not taken back."),
  refusal: orNull(REFUSAL, "it was sent, or has not come to its turn."),
  resolution: orNull(RESOLUTION, "no person has."),
});

export const bundlesView: PublishedView = {
  view: "bundles.v1",
  description: "One document for every bundle of actions that was decided on, with its steps and what became of each.",
  id: "The bundle's id, bun_….",
  documents: [
    closed<BundleDocument>("Several actions that are done as one, or taken back.", {
      account: ACCOUNT,
      status: oneOf(
        BUNDLE_STATUSES,
        "How it stands. held: people have to approve it; cancelled: they did not, or it was stopped before anything began. " +
          "rollback_incomplete: some of it was not taken back; left says which steps.",
      ),
      name: orNull(text("What the agent called it."), "it has no name."),
      origin: ORIGIN,
      agent_id: text("The agent that asked for it, agt_…."),
      key: text("Its Idempotency-Key: by it a repeat is recognised."),
      steps: list(STEP, "Its steps, in their order."),
      run_id: orNull(text("The run of the agent, as the agent calls it."), "the agent named none."),
      verdict: VERDICT,
      cost: orNull(
        micro("What it is expected to cost, and what it has cost once it has ended."),
        "no cost could be, or had to be, determined.",
      ),
      approval_id: optional(text("The approval that it waits or waited for, apr_…. Missing: none was needed.")),
      reason: orNull(text("Why it was rolled back, could not be any more, or was not begun."), "it was not."),
      hold_outcome: orNull(oneOf(HOLD_OUTCOMES, "How its hold ended."), "it was not held, is, or was approved."),
      left: list({ type: "integer", minimum: 0 }, "The indices of the steps that somebody has to take back by hand."),
      trace_id: text("The W3C trace id of the request that was decided on last, 32 hex characters."),
      created_at: time("When the first request of it came."),
      ended_at: orNull(time("When it was refused or ended."), "it is under way."),
    }),
  ],
};
