import { costOfStep } from "../../domain/bundle/cost.ts";
import { bundleErasure } from "../../domain/bundle/erasure.ts";
import type { Step } from "../../domain/bundle/events.ts";
import { isUnderWay } from "../../domain/bundle/next.ts";
import {
  type Bundle,
  refusalOf,
  requestOf,
  resolutionOf,
  type StepState,
  startOf,
  undoStartOf,
} from "../../domain/bundle/state.ts";
import {
  type BundleStatus,
  bundleStatus,
  type StepStatus,
  stepStatuses,
  stepsToUndoByHand,
} from "../../domain/bundle/status.ts";
import { defined } from "../../domain/defined.ts";
import type { HoldOutcome } from "../../domain/delivery/events.ts";
import { eurOrNull } from "../../domain/gate/cost.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { Reason } from "../../domain/personal/words.ts";
import type { EventLog } from "../../domain/ports/event-log.ts";
import { outcomeOf, type Result, resultOf } from "../bodies/result.ts";
import { shownIn } from "../erasure/personal-data.ts";
import { type Answer, positionOf } from "../http/route.ts";
import { bundleStream } from "../streams/bundle-id.ts";
import { foldStream, latestOf, type StreamState } from "../streams/run-command.ts";
import { NO_TIMES, type StepTimes } from "./step-times.ts";

const UNDER_WAY: readonly BundleStatus[] = ["held", "running", "rolling_back"];

export const hasEnded = (state: Bundle): boolean => !UNDER_WAY.includes(bundleStatus(state));

export const heldFor = (state: Bundle): string | null => (state.phase === "held" ? state.approval.approval_id : null);

const approvalIdOf = (state: Bundle): string | null => {
  if (state.phase === "held" || state.phase === "stopped") return state.approval.approval_id;
  return state.phase === "running" ? state.approvalId : null;
};

const endedAtOf = (state: Bundle): string | null => {
  switch (state.phase) {
    case "blocked":
      return state.refused.at;
    case "stopped":
      return state.at;
    case "running":
      return state.endedAt;
    default:
      return null;
  }
};

const reasonOf = (state: Bundle): { readonly reason?: Reason; readonly hold_outcome?: HoldOutcome } => {
  if (state.phase === "stopped") return { reason: state.reason, hold_outcome: state.outcome };
  if (state.phase !== "running") return {};
  const reason = state.rollback?.reason ?? state.tooLate;
  return defined({ reason });
};

export type ShowResults = (results: readonly (Result | null)[]) => Promise<readonly (JsonObject | null)[]>;

/** The target's answer to the step's last attempt; null until the step has ended, and without an answer. */
const resultOfStep = async (log: EventLog, { event_id }: Step, came: StepState | undefined): Promise<Result | null> => {
  if (came === undefined || !("outcome" in came)) return null;
  return resultOf(log, event_id, came.payload.revision, await outcomeOf(log, event_id));
};

/** Micro-euros: the estimate until the step has ended. The cost of its undo is added once the bundle has ended. */
const costOf = (step: Step, status: StepStatus, came: StepState | undefined, isOver: boolean): number | null => {
  if (status === "skipped") return null;
  if (came === undefined || came.phase === "pending" || came.phase === "running") return step.cost;
  return (isOver || !("cost" in came) ? costOfStep(came) : came.cost) ?? 0;
};

/** The ids of the step's events; null while an event's delivery has no record, since nobody could look it up. */
const eventsOf = (step: Step, came: StepState | undefined, unrecorded: ReadonlySet<string>): JsonObject => {
  const shown = (id: string, isStarted: boolean): string | null => (isStarted && !unrecorded.has(id) ? id : null);
  return {
    event_id: shown(step.event_id, startOf(came) !== null),
    compensation_event_id: shown(step.undo_event_id, undoStartOf(came) !== null),
  };
};

const stepAnswer = (step: Step, status: StepStatus, came: StepState | undefined, isOver: boolean) => ({
  index: step.index,
  action: step.action.name,
  status,
  reversibility: step.reversibility,
  compensation: step.compensation?.name ?? null,
  cost_eur: eurOrNull(costOf(step, status, came, isOver)),
  refusal: refusalOf(came),
});

/** People's words in the answer. */
const wordsOf = (state: Bundle, came: readonly StepState[]) => ({
  ...reasonOf(state),
  resolutions: came.map(resolutionOf),
});

const erasedAtOf = async (log: EventLog, bundleId: string, state: Bundle): Promise<string | null> => {
  if (!hasEnded(state)) return null;
  return (await foldStream(log, bundleErasure, bundleStream(bundleId))).state.erasedAt;
};

/** Ids of events that may not exist yet: the event of a step or undo is recorded a moment after its start. */
const eventsUnderWay = (state: Bundle): readonly string[] =>
  state.phase !== "running"
    ? []
    : state.steps.flatMap((came, index) => {
        const step = state.request.steps[index];
        if (step === undefined) return [];
        return [
          ...(isUnderWay(came) ? [step.event_id] : []),
          ...(came.phase === "undoing" ? [step.undo_event_id] : []),
        ];
      });

/**
 * The answer's position is that of the last record that it rests on, in the stream of the bundle or of a step's event. With
 * `times` each step also says where and when it was sent.
 */
export const bundleAnswer = async (
  { log, account }: { readonly log: EventLog; readonly account: string },
  { state, position }: StreamState<Bundle>,
  shown: ShowResults = async (results) => results,
  times: ReadonlyMap<number, StepTimes> | null = null,
): Promise<Answer & { readonly body: JsonObject }> => {
  const request = requestOf(state);
  if (request === null) throw new Error("a bundle that was never decided has no answer");
  const { bundle_id: id, steps, verdict, cost: estimate } = request;
  const came = state.phase === "running" ? state.steps : [];
  const statuses = stepStatuses(state);
  const underWay = eventsUnderWay(state);
  const recorded = await Promise.all(
    underWay.map(async (eventId) => (await log.last(`delivery-${eventId}`))?.position),
  );
  const unrecorded = new Set(underWay.filter((_, index) => recorded[index] === undefined));
  const results = await Promise.all(steps.map((step, index) => resultOfStep(log, step, came[index])));
  const seen = await shown(results);
  const { resolutions, ...words } = await shownIn({ log, account }, wordsOf(state, came));
  const spent = "spent" in state ? state.spent : undefined;
  const approvalId = approvalIdOf(state);
  const status = bundleStatus(state);
  const body: JsonObject = {
    id,
    name: request.name,
    status,
    agent_id: request.origin.id,
    steps: steps.map((step, index) => ({
      ...stepAnswer(step, statuses[index] ?? "pending", came[index], hasEnded(state)),
      resolution: resolutions[index] ?? null,
      ...eventsOf(step, came[index], unrecorded),
      result: seen[index] ?? null,
      ...(times === null ? {} : { endpoint_id: step.endpoint_id, times: times.get(index) ?? NO_TIMES }),
    })),
    ...defined({ approval_id: approvalId ?? undefined }),
    verdict,
    cost_eur: eurOrNull(spent === undefined ? estimate : (spent ?? 0)),
    run_id: request.run.id,
    ...words,
    ...(status === "rollback_incomplete" ? { left: stepsToUndoByHand(state) } : {}),
    // The time of the first request for the bundle, by which lists are sorted as well.
    created_at: ("firstReceivedAt" in state ? state.firstReceivedAt : undefined) ?? request.received_at,
    ended_at: endedAtOf(state),
    payload_erased_at: await erasedAtOf(log, id, state),
  };
  return {
    status: hasEnded(state) ? 200 : 202,
    headers: { location: `/v1/bundles/${id}` },
    body,
    ...positionOf({ position: latestOf(position, ...recorded) }),
  };
};
