import type { BundleEvent, BundleRequest, Step, StepRefusal, UndoOutcome } from "../domain/bundle/events.ts";
import type { BundleStatus, StepStatus } from "../domain/bundle/status.ts";
import type { HoldOutcome, Origin } from "../domain/delivery/events.ts";
import type { GateName, Verdict } from "../domain/gate/verdict.ts";
import type { Reason, Words } from "../domain/personal/words.ts";
import type { RecordedEvent } from "../domain/ports/event-log.ts";
import { denialIn } from "./gate-denials.ts";
import { eventOf, perDocument } from "./projection.ts";
import { bundleOf } from "./streams.ts";

/** Amounts of money are in micro-euros. */
export type BundleStepDocument = {
  readonly index: number;
  readonly action: string;
  readonly endpoint_id: string;
  readonly reversibility: Step["reversibility"];
  readonly compensation: string | null;
  readonly status: StepStatus;
  /** Null until the step has started; `compensation_event_id` is null until its undo has started. */
  readonly event_id: string | null;
  readonly compensation_event_id: string | null;
  readonly started_at: string | null;
  readonly ended_at: string | null;
  /** First the estimate, then the actual cost when the step has ended; null if the step was never sent. */
  readonly cost: number | null;
  readonly compensation_cost: number | null;
  readonly undo: UndoOutcome | null;
  readonly undone_at: string | null;
  readonly refusal: StepRefusal | null;
  readonly resolution: { readonly by: string; readonly comment: Words; readonly at: string } | null;
};

export type BundleDocument = {
  readonly account: string;
  readonly status: BundleStatus;
  readonly name: string | null;
  readonly origin: Origin;
  readonly agent_id: string;
  /** The Idempotency-Key of the request. */
  readonly key: string;
  readonly steps: readonly BundleStepDocument[];
  readonly run_id: string | null;
  readonly verdict: Verdict;
  /** The policy that decided, and the gate that refused the last request. */
  readonly policy_id: string | null;
  readonly gate: GateName | null;
  readonly cost: number | null;
  /** Absent if the bundle needed no approval. */
  readonly approval_id?: string;
  /** Why the bundle was rolled back or was not, or why its hold ended; else null. */
  readonly reason: Reason | null;
  readonly hold_outcome: HoldOutcome | null;
  /** Indexes of the steps that a person still has to undo. */
  readonly left: readonly number[];
  readonly trace_id: string;
  /** When the first request came, so that a bundle that is sent again keeps its place in lists. */
  readonly created_at: string;
  readonly ended_at: string | null;
};

const DECIDED = {
  BundleAdmitted: { status: "running", step: "pending" },
  BundleHeld: { status: "held", step: "pending" },
  BundleBlocked: { status: "blocked", step: "skipped" },
} as const satisfies Partial<Record<BundleEvent["type"], { status: BundleStatus; step: StepStatus }>>;

type Decision = Extract<BundleEvent, { type: keyof typeof DECIDED }>;

const stepOf = (step: Step, status: StepStatus): BundleStepDocument => ({
  index: step.index,
  action: step.action.name,
  endpoint_id: step.endpoint_id,
  reversibility: step.reversibility,
  compensation: step.compensation?.name ?? null,
  status,
  event_id: null,
  compensation_event_id: null,
  started_at: null,
  ended_at: null,
  cost: status === "skipped" ? null : step.cost,
  compensation_cost: null,
  undo: null,
  undone_at: null,
  refusal: null,
  resolution: null,
});

const decided = (
  before: BundleDocument | null,
  { type, data: request }: Decision,
  { account, trace_id }: RecordedEvent["meta"],
): BundleDocument => {
  const { origin, name, key, steps, run, verdict, cost, received_at, at }: BundleRequest = request;
  const { status, step: stepStatus } = DECIDED[type];
  return {
    account,
    status,
    name,
    origin,
    agent_id: origin.id,
    key,
    steps: steps.map((step) => stepOf(step, stepStatus)),
    run_id: run.id,
    verdict,
    policy_id: verdict.policy?.id ?? null,
    gate: denialIn(verdict)?.gate ?? null,
    cost,
    reason: null,
    hold_outcome: null,
    left: [],
    trace_id,
    created_at: before?.created_at ?? received_at,
    ended_at: status === "blocked" ? at : null,
  };
};

type Change = (step: BundleStepDocument) => Partial<BundleStepDocument>;

const withStep = (document: BundleDocument, index: number, change: Change): BundleDocument => ({
  ...document,
  steps: document.steps.map((step) => (step.index === index ? { ...step, ...change(step) } : step)),
});

const SKIPPED = { status: "skipped", cost: null } as const;

const skipping = (document: BundleDocument): BundleDocument => ({
  ...document,
  steps: document.steps.map((step) => (step.status === "pending" ? { ...step, ...SKIPPED } : step)),
});

const withCosts = (document: BundleDocument, costs: readonly (number | null)[] | undefined): BundleDocument =>
  costs === undefined
    ? document
    : { ...document, steps: document.steps.map((step) => ({ ...step, cost: costs[step.index] ?? null })) };

const undoneStatus = (outcome: UndoOutcome, status: StepStatus): StepStatus => {
  switch (outcome) {
    case "compensated":
      return "compensated";
    case "failed":
      return "compensation_failed";
    case "impossible":
      return "unknown";
    case "not-needed":
      // A step that failed or was skipped had no effect, so it keeps that status instead of "compensated".
      return status === "failed" || status === "skipped" ? status : "compensated";
  }
};

const evolveStep = (document: BundleDocument, event: BundleEvent): BundleDocument => {
  switch (event.type) {
    case "StepStarted": {
      const { index, event_id, at } = event.data;
      return withStep(document, index, () => ({ status: "running", event_id, started_at: at }));
    }
    case "StepRefused": {
      const { index, code, detail } = event.data;
      return withStep(document, index, () => ({ ...SKIPPED, refusal: { code, detail } }));
    }
    case "StepEnded": {
      const { index, outcome, cost, never_sent, at } = event.data;
      // A step that was never sent had no effect, so its cost is refunded.
      const ended = never_sent === true ? SKIPPED : { status: outcome, cost: cost ?? 0 };
      return withStep(document, index, () => ({ ...ended, ended_at: at }));
    }
    case "UndoStarted": {
      const { index, event_id } = event.data;
      return withStep(document, index, () => ({ compensation_event_id: event_id }));
    }
    case "StepUndone": {
      const { index, outcome: undo, cost: compensation_cost, at: undone_at } = event.data;
      return withStep(document, index, ({ status }) => ({
        status: undoneStatus(undo, status),
        undo,
        compensation_cost,
        undone_at,
      }));
    }
    case "StepResolved": {
      const { index, by, comment, at } = event.data;
      const resolved = withStep(document, index, () => ({ status: "compensated", resolution: { by, comment, at } }));
      const left = document.left.filter((it) => it !== index);
      const isDone = document.status === "rollback_incomplete" && left.length === 0;
      return { ...resolved, left, status: isDone ? "rolled_back" : document.status };
    }
    default:
      // A type that only a later version knows changes nothing.
      return document;
  }
};

const evolve = (document: BundleDocument | null, recorded: RecordedEvent): BundleDocument | null => {
  const event = eventOf<BundleEvent>(recorded);
  switch (event.type) {
    case "BundleAdmitted":
    case "BundleBlocked":
      return decided(document, event, recorded.meta);
    case "BundleHeld":
      return { ...decided(document, event, recorded.meta), approval_id: event.data.approval.approval_id };
  }
  if (document === null) return null;
  switch (event.type) {
    case "BundleHeldAgain":
      return { ...document, approval_id: event.data.approval.approval_id };
    case "BundleReleased":
      return { ...document, status: "running" };
    case "BundleHoldEnded": {
      const { outcome: hold_outcome, reason, at: ended_at } = event.data;
      return { ...skipping(document), status: "cancelled", hold_outcome, reason, ended_at };
    }
    case "RollbackStarted":
      return { ...skipping(document), status: "rolling_back", reason: event.data.reason };
    case "BundleCommitted":
      // With a `reason`, a rollback was asked for but came too late to undo anything.
      return { ...document, status: "committed", reason: event.data.reason ?? null, ended_at: event.data.at };
    case "BundleRolledBack":
      return { ...document, status: "rolled_back", ended_at: event.data.at };
    case "RollbackIncomplete":
      return { ...document, status: "rollback_incomplete", left: event.data.left, ended_at: event.data.at };
    case "BundleCostDetermined":
      return withCosts({ ...document, cost: event.data.cost ?? 0 }, event.data.steps);
    default:
      return evolveStep(document, event);
  }
};

export const bundles = perDocument<BundleDocument>(
  {
    name: "bundles.v2",
    fields: {
      ...{ account: "text", status: "text", agent_id: "text", policy_id: "text", gate: "text" },
      created_at: "text",
    },
    indexes: [
      ["account", "created_at"],
      ["account", "agent_id", "created_at"],
      ["account", "status", "created_at"],
      ["account", "gate", "created_at"],
      ["account", "policy_id", "created_at"],
    ],
  },
  bundleOf,
  evolve,
);
