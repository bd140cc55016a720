import { hash } from "node:crypto";
import type { Step } from "../../domain/bundle/events.ts";
import { type RunningBundle, type Start, startOf, undoStartOf } from "../../domain/bundle/state.ts";
import { defined } from "../../domain/defined.ts";
import type { Bound, PayloadRef, Request } from "../../domain/delivery/events.ts";
import { canonicalJson } from "../../domain/evidence/canonical-json.ts";
import { allowed, type Verdict } from "../../domain/gate/verdict.ts";

type Delivered = {
  readonly step: Step;
  readonly payload: PayloadRef;
  readonly startedAt: string;
};

const recordOf = ({ request }: RunningBundle, index: number): Step => {
  const step = request.steps[index];
  if (step === undefined) throw new Error(`${request.bundle_id} has no step ${index}`);
  return step;
};

const started = (step: Step, what: string, start: Start | null): Delivered => {
  if (start === null) throw new Error(`${what} of step ${step.index} is not started`);
  const { payload, startedAt } = start;
  return { step, payload, startedAt };
};

/** A step's verdict names no places in ledgers, because these belong to the bundle. */
const verdictOf = ({ request: { verdict } }: RunningBundle, detail: string): Verdict => ({
  decision: "allow",
  policy: verdict.policy,
  ...defined({ policies: verdict.policies }),
  gates: [allowed("bundle", detail)],
});

const common = (state: RunningBundle, { payload, startedAt }: Delivered, bound: Bound | undefined) => {
  const { origin, run } = state.request;
  return {
    ...{ origin, run, payload, received_at: startedAt, authenticated_at: startedAt, at: startedAt },
    // Only an approved bundle is bound to the targets that people saw; any other follows its endpoints' settings.
    ...defined({ bound: state.approvalId === null ? undefined : bound }),
  };
};

/** Made from the bundle's records alone, so that after a crash any node makes the same request. */
export const requestOfStep = (state: RunningBundle, index: number): Request => {
  const it = started(recordOf(state, index), "The delivery", startOf(state.steps[index]));
  const { event_id, action, endpoint_id, cost, bound } = it.step;
  const { bundle_id: id } = state.request;
  return {
    ...common(state, it, bound),
    event_id,
    delivery_key: `${id}/${index}`,
    type: action.name,
    endpoint_id,
    verdict: verdictOf(state, `Decided on as step ${index} of ${id}`),
    cost,
    action,
    bundle: { id, index, undo: false },
  };
};

/** Made like `requestOfStep`. An undo has no cost and passes no gate: an agent's suspension must not prevent it. */
export const requestOfUndo = (state: RunningBundle, index: number): Request => {
  const it = started(recordOf(state, index), "The undo", undoStartOf(state.steps[index]));
  const { undo_event_id: event_id, action, compensation } = it.step;
  if (compensation === null) throw new Error(`${event_id} takes back ${action.name}, which has no compensation`);
  const { name, version, endpoint_id, bound } = compensation;
  const { bundle_id: id } = state.request;
  // The payload's digest includes a salt, so that an erased payload cannot be guessed from this one.
  const identity = { undoes: action.digest, action: name, schema_version: version, target: endpoint_id };
  const digest = hash("sha256", canonicalJson({ ...identity, payload: it.payload.commitment }));
  return {
    ...common(state, it, bound),
    event_id,
    delivery_key: `${id}/${index}/undo`,
    type: name,
    endpoint_id,
    verdict: verdictOf(state, `Takes back step ${index} of ${id}`),
    cost: null,
    action: { name, version, digest },
    bundle: { id, index, undo: true },
  };
};
