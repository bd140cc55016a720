import { defined } from "../../../domain/defined.ts";
import { eurOrNull } from "../../../domain/gate/cost.ts";
import type { BundleDocument, BundleStepDocument } from "../../../projections/bundles.ts";

const stepSummary = (step: BundleStepDocument) => ({
  index: step.index,
  action: step.action,
  status: step.status,
  event_id: step.event_id,
  compensation_event_id: step.compensation_event_id,
  reversibility: step.reversibility,
  compensation: step.compensation,
  cost_eur: eurOrNull(step.cost),
  refusal: step.refusal,
  resolution: step.resolution,
});

export type StepSummary = ReturnType<typeof stepSummary>;

/** A bundle in a list. `bundleAnswer` adds the steps' results and what is left to undo by hand. */
export const bundleSummary = (id: string, it: BundleDocument) => ({
  id,
  name: it.name,
  status: it.status,
  agent_id: it.agent_id,
  steps: it.steps.map(stepSummary),
  ...defined({ approval_id: it.approval_id }),
  verdict: it.verdict,
  cost_eur: eurOrNull(it.cost),
  run_id: it.run_id,
  ...defined({ reason: it.reason ?? undefined, hold_outcome: it.hold_outcome ?? undefined }),
  created_at: it.created_at,
  ended_at: it.ended_at,
});

export type BundleSummary = ReturnType<typeof bundleSummary>;
