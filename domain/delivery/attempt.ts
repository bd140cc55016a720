import { accept, type Decision, reject } from "../decider.ts";
import { defined } from "../defined.ts";
import { sameTarget } from "../endpoint/target.ts";
import type { Claimant, CommandOf, DeliveryRejection } from "./commands.ts";
import { mayBeDone, reachedAfter } from "./cost.ts";
import { endedWith, eventCancelled, knownSoFar, outcomeWithoutSuccess } from "./ending.ts";
import type { DeliveryEvent } from "./events.ts";
import { holdWithdrawn } from "./hold.ts";
import { replayField, replayIdOf } from "./replay.ts";
import { type ActiveDelivery, type Delivery, isActive, isAdmitted } from "./state.ts";

type Decided = Decision<DeliveryEvent, DeliveryRejection>;

const notActive = (state: Exclude<Delivery, ActiveDelivery>): Decided =>
  reject(isAdmitted(state) ? "already-ended" : "not-admitted");

export const isLeased = (state: ActiveDelivery, { node, othersAreGone, at }: Claimant): boolean =>
  state.phase === "attempting" && (state.lease.node === node || !othersAreGone) && state.lease.until > at;

/** A time that equals the admission, release or replay is due at once, even if the clock was set back since. */
const isDue = ({ dueAt, admittedAt, replay }: ActiveDelivery & { phase: "waiting" }, at: string): boolean =>
  dueAt <= at || dueAt === admittedAt || dueAt === replay?.at;

export const decideStart = (command: CommandOf<"StartAttempt">, state: Delivery): Decided => {
  if (!isActive(state)) return notActive(state);
  if (isLeased(state, command)) return reject("leased");
  if (state.erased) return reject("payload-erased");
  if (state.phase === "waiting" && command.early === undefined && !isDue(state, command.at)) return reject("not-due");
  // The cancellation awaited an attempt whose process is gone, so the event is cancelled now.
  if (state.phase === "attempting" && state.cancelling !== null)
    return accept(...eventCancelled(state, state.cancelling, command.at));
  const approved = state.request.bound?.target ?? null;
  if (approved !== null && (command.target === undefined || !sameTarget(approved, command.target)))
    return reject("target-changed");
  return accept({
    type: "AttemptStarted",
    data: {
      event_id: state.request.event_id,
      endpoint_id: command.endpointId,
      number: state.attempts + 1,
      trigger: command.trigger,
      node: command.node,
      lease_until: command.leaseUntil,
      ...defined({
        target: approved ?? undefined,
        probe: command.early === "probe" ? (true as const) : undefined,
      }),
      at: command.at,
    },
  });
};

/** A success counts even after the lease has ended or the event was held again: the receiver has the event. */
export const decideSuccess = ({ end }: CommandOf<"Succeed">, state: Delivery): Decided => {
  const active = state.phase === "held" ? state.before : state;
  if (active === null) return reject("not-admitted");
  if (!isActive(active)) return notActive(active);
  const { event_id, endpoint_id, at } = end;
  const admitted_at = active.replay?.at ?? active.admittedAt;
  const reached = reachedAfter(active.reached, end, null);
  return accept<DeliveryEvent>(
    ...(state.phase === "held" ? [holdWithdrawn(state, at)] : []),
    { type: "AttemptSucceeded", data: end },
    { type: "EventDelivered", data: { event_id, endpoint_id, admitted_at, ...replayField(active), at } },
    ...endedWith(active, { reached, outcome: "succeeded" }, at),
  );
};

export const decideFailure = (command: CommandOf<"Fail">, state: Delivery): Decided => {
  if (!isActive(state)) return notActive(state);
  const { end, failure, retryable } = command;
  if (state.phase !== "attempting" || state.lease.number !== end.number) return reject("lease-lost");
  const failed = (nextAt: string | null): DeliveryEvent => ({
    type: "AttemptFailed",
    data: { ...end, failure, retryable, next_attempt_at: nextAt },
  });
  const known = {
    reached: reachedAfter(state.reached, end, failure),
    outcome: outcomeWithoutSuccess(state.mayBeDone || mayBeDone({ ...end, failure })),
  };
  const { event_id, endpoint_id, at } = end;
  if (command.nextAttemptAt !== null) {
    if (state.cancelling === null) return accept(failed(command.nextAttemptAt));
    return accept(failed(null), ...eventCancelled(state, state.cancelling, at, known));
  }
  return accept<DeliveryEvent>(
    failed(null),
    { type: "DeliveryFailed", data: { event_id, endpoint_id, failure, ...replayField(state), at } },
    ...endedWith(state, known, at),
  );
};

export const decideGiveUp = (command: CommandOf<"GiveUp">, state: Delivery): Decided => {
  if (!isActive(state)) return notActive(state);
  if (isLeased(state, command)) return reject("leased");
  // Since then a replay may have begun, and the missing endpoint or payload may be back: this command does not end it.
  if (command.inReplay !== undefined && command.inReplay !== replayIdOf(state)) return reject("in-progress");
  const { failure, at } = command;
  const { event_id, endpoint_id } = state.request;
  const data = { event_id, endpoint_id: endpoint_id ?? "", failure, ...replayField(state), at };
  return accept<DeliveryEvent>({ type: "DeliveryFailed", data }, ...endedWith(state, knownSoFar(state), at));
};
