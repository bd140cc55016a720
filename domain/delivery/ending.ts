import { defined } from "../defined.ts";
import type { Reason } from "../personal/words.ts";
import { costDetermined, costOnTop, type Reached, spentOnStep, UNSEEN } from "./cost.ts";
import type { DeliveryEvent, StepOutcome } from "./events.ts";
import { replayField } from "./replay.ts";
import type { ActiveDelivery } from "./state.ts";

type EndKnowledge = {
  readonly reached: Reached | null;
  readonly outcome: StepOutcome;
};

/** One attempt with an unknown outcome makes the delivery's outcome unknown, even if all others were refused. */
export const outcomeWithoutSuccess = (mayBeDone: boolean): StepOutcome => (mayBeDone ? "unknown" : "failed");

/** An attempt that is still under way counts as one whose outcome stays unknown. */
export const knownSoFar = ({ phase, reached, mayBeDone }: ActiveDelivery): EndKnowledge => {
  const isAttempting = phase === "attempting";
  return {
    reached: isAttempting ? (reached ?? UNSEEN) : reached,
    outcome: outcomeWithoutSuccess(mayBeDone || isAttempting),
  };
};

/** A source's event was paid for when it was admitted or released, so its end costs nothing. */
const costOfEnd = ({ request, replay }: ActiveDelivery, reached: Reached | null, at: string) => {
  if (request.origin.kind !== "agent") return [];
  return replay === null || replay.counted === null
    ? costDetermined(request, reached, at)
    : costOnTop(request, { id: replay.id, counted: replay.counted }, reached, at);
};

export const endedWith = (
  state: ActiveDelivery,
  { reached, outcome }: EndKnowledge,
  at: string,
  isNeverSent = false,
): readonly DeliveryEvent[] => {
  const { request } = state;
  const { event_id, bundle } = request;
  if (bundle === undefined) return costOfEnd(state, reached, at);
  const isReported = reached !== null && reached.reported !== null;
  const data = defined({
    ...{ event_id, bundle, outcome, cost: spentOnStep(request, reached, outcome) },
    reported: isReported ? (true as const) : undefined,
    never_sent: isNeverSent ? (true as const) : undefined,
    at,
  });
  return [{ type: "BundleStepEnded", data }];
};

export const eventCancelled = (
  state: ActiveDelivery,
  reason: Reason,
  at: string,
  known = knownSoFar(state),
): readonly DeliveryEvent[] => {
  const { event_id, endpoint_id } = state.request;
  const about = { event_id, endpoint_id: endpoint_id ?? "", attempts: state.attempts };
  const data = { ...about, reason, ...replayField(state), at };
  return [{ type: "EventCancelled", data }, ...endedWith(state, known, at, state.attempts === 0)];
};
