import { defined } from "../defined.ts";
import { mayBeDone, reachedAfter } from "./cost.ts";
import { knownSoFar } from "./ending.ts";
import { erasedWith } from "./erased.ts";
import type { DeliveryEvent, HeldAgain, HoldOutcome, Request } from "./events.ts";
import { countedOf, withReplay } from "./replay.ts";
import {
  type ActiveDelivery,
  type Delivery,
  erasedUpTo,
  type FailedDelivery,
  type HeldDelivery,
  type Hold,
  isActive,
  isAdmitted,
  type StoppedDelivery,
} from "./state.ts";

type DataOf<T extends DeliveryEvent["type"]> = Extract<DeliveryEvent, { type: T }>["data"];
type Progress = Omit<Extract<Delivery, { phase: "waiting" }>, "phase" | "dueAt">;

type Counts = Pick<Progress, "attempts" | "probes" | "reached" | "mayBeDone">;

const progressOf = (it: Progress, { attempts, probes, reached, mayBeDone }: Counts = it): Progress => ({
  request: it.request,
  replays: it.replays,
  admittedAt: it.admittedAt,
  hold: it.hold,
  releases: it.releases,
  attempts,
  probes,
  erased: it.erased,
  reached,
  mayBeDone,
  paid: it.paid,
  replay: it.replay,
});

const firstAdmitted = (
  request: Request,
  replays: readonly string[],
  admittedAt: string,
  { hold, erased }: { readonly hold: Hold | null; readonly erased: boolean },
): Delivery => {
  const releases = hold === null ? [] : [hold.approval.approval_id];
  if (request.endpoint_id === null) return { phase: "recorded", request, replays, admittedAt, releases, paid: null };
  return {
    phase: "waiting",
    request,
    replays,
    admittedAt,
    hold,
    releases,
    attempts: 0,
    probes: 0,
    dueAt: admittedAt,
    erased,
    reached: null,
    mayBeDone: false,
    paid: null,
    replay: null,
  };
};

const heldAgain = (
  state: HeldDelivery | ActiveDelivery,
  { approval, previous: _, held_at: heldAt, ...request }: HeldAgain,
): HeldDelivery => {
  const before = state.phase === "held" ? state.before : state;
  const { replays, erased } = state;
  return { phase: "held", request, replays, approval, heldAt, before, erased };
};

const released = (held: HeldDelivery, { at }: DataOf<"EventReleased">): Delivery => {
  const { request, replays, approval, heldAt, before, erased } = held;
  const hold = { approval, heldAt };
  if (before === null) return firstAdmitted(request, replays, at, { hold, erased });
  // An attempt that was under way when the delivery was held again has an unknown outcome.
  const { reached, outcome } = knownSoFar(before);
  const releases = [...before.releases, approval.approval_id];
  return {
    ...progressOf(before),
    ...{ request, admittedAt: at, hold, releases, erased, reached, mayBeDone: outcome === "unknown" },
    phase: "waiting",
    dueAt: at,
  };
};

const stopped = (state: ActiveDelivery | FailedDelivery, outcome: HoldOutcome, heldFor: string | null) => {
  const { request, replays, releases, attempts, paid } = state;
  const it: StoppedDelivery = {
    phase: "stopped",
    request,
    replays,
    outcome,
    releases,
    heldFor,
    attempts,
    paid,
    stepEnd: null,
    counted: countedOf(state),
  };
  return it;
};

const holdEnded = (held: HeldDelivery, outcome: HoldOutcome): Delivery => {
  const { request, replays, before, approval } = held;
  const heldFor = approval.approval_id;
  if (before !== null) return stopped(before, outcome, heldFor);
  return {
    phase: "stopped",
    request,
    replays,
    outcome,
    releases: [],
    heldFor,
    attempts: 0,
    paid: null,
    stepEnd: null,
    counted: null,
  };
};

const attempting = (state: ActiveDelivery, data: DataOf<"AttemptStarted">): Delivery => {
  const { number, node, lease_until: until, probe } = data;
  const { reached, outcome } = knownSoFar(state);
  const probes = state.probes + (probe === true ? 1 : 0);
  const counts = { attempts: number, probes, reached, mayBeDone: outcome === "unknown" };
  return { phase: "attempting", lease: { number, node, until }, cancelling: null, ...progressOf(state, counts) };
};

const attemptFailed = (state: ActiveDelivery, data: DataOf<"AttemptFailed">): Delivery => {
  const progress = {
    ...progressOf(state),
    reached: reachedAfter(state.reached, data, data.failure),
    mayBeDone: state.mayBeDone || mayBeDone(data),
  };
  if (data.next_attempt_at === null) return { ...progress, phase: "failed", stepEnd: null };
  return { ...progress, phase: "waiting", dueAt: data.next_attempt_at };
};

const succeeded = (state: ActiveDelivery, data: DataOf<"AttemptSucceeded">): Delivery => {
  const { attempts, probes, mayBeDone } = state;
  const counts = { attempts, probes, reached: reachedAfter(state.reached, data, null), mayBeDone };
  return { phase: "delivered", stepEnd: null, ...progressOf(state, counts) };
};

const replayed = (state: FailedDelivery, data: DataOf<"EventReplayed">): Delivery => {
  const { cost, ledgers, counted = null, at, replay_id: id, by, reason } = data;
  const isCounted = cost !== undefined || ledgers !== undefined;
  return {
    ...progressOf(state),
    request: isCounted ? { ...state.request, cost: cost ?? null, ledgers: ledgers ?? [] } : state.request,
    replays: withReplay(state, id),
    phase: "waiting",
    dueAt: at,
    reached: null,
    probes: 0,
    replay: { id, by, reason, at, before: state.attempts, counted },
  };
};

const costDetermined = (state: Delivery, { ledgers, cost }: DataOf<"CostDetermined">): Delivery => {
  const paid = defined({ paid: cost === null || ledgers.length === 0 ? undefined : { ledgers, cost } });
  if (state.phase === "delivered" || state.phase === "failed" || state.phase === "stopped")
    return { ...state, ...paid, spent: cost };
  return isAdmitted(state) ? { ...state, ...paid } : state;
};

const stepEnded = (state: Delivery, data: DataOf<"BundleStepEnded">): Delivery => {
  if (state.phase !== "delivered" && state.phase !== "failed" && state.phase !== "stopped") return state;
  const { outcome, cost, reported, never_sent } = data;
  return { ...state, stepEnd: defined({ outcome, cost, reported, neverSent: never_sent }) };
};

const payloadErased = (state: Delivery, data: DataOf<"PayloadErased">): Delivery => {
  switch (state.phase) {
    case "abandoned":
    case "blocked":
      return { ...state, erasedUpTo: erasedWith(state.erasedUpTo, data) };
    case "held":
    case "waiting":
    case "attempting":
    case "failed":
      return { ...state, erased: true };
    default:
      return state;
  }
};

export const evolve = (state: Delivery, event: DeliveryEvent): Delivery => {
  switch (event.type) {
    case "EventAdmitted":
      return firstAdmitted(event.data, withReplay(state, event.data.replay?.id), event.data.at, {
        hold: null,
        erased: false,
      });
    case "EventHeld": {
      const { approval, ...request } = event.data;
      const replays = withReplay(state, request.replay?.id);
      return { phase: "held", request, replays, approval, heldAt: request.at, before: null, erased: false };
    }
    case "EventHeldAgain":
      return state.phase === "held" || isActive(state) ? heldAgain(state, event.data) : state;
    case "EventReleased":
      return state.phase === "held" ? released(state, event.data) : state;
    case "HoldWithdrawn":
      return state.phase === "held" && state.before !== null ? { ...state.before, erased: state.erased } : state;
    case "HoldEnded":
      return state.phase === "held" ? holdEnded(state, event.data.outcome) : state;
    case "CancellationRequested":
      return state.phase === "attempting" ? { ...state, cancelling: event.data.reason } : state;
    case "EventCancelled":
      return isActive(state) || state.phase === "failed" ? stopped(state, "cancelled", null) : state;
    case "EventBlocked": {
      const replays = withReplay(state, event.data.replay?.id);
      return { phase: "blocked", refused: event.data, replays, erasedUpTo: erasedUpTo(state) };
    }
    case "AdmissionAbandoned":
      return state.phase === "absent" ? { phase: "abandoned", erasedUpTo: null } : state;
    case "AttemptStarted":
      return isActive(state) ? attempting(state, event.data) : state;
    case "AttemptFailed":
      return isActive(state) ? attemptFailed(state, event.data) : state;
    case "AttemptSucceeded":
      return isActive(state) ? succeeded(state, event.data) : state;
    case "DeliveryFailed":
      if (!isActive(state)) return state;
      return { ...progressOf(state), phase: "failed", reached: knownSoFar(state).reached, stepEnd: null };
    case "EventReplayed":
      return state.phase === "failed" ? replayed(state, event.data) : state;
    case "CostDetermined":
      return costDetermined(state, event.data);
    case "BundleStepEnded":
      return stepEnded(state, event.data);
    case "PayloadErased":
      return payloadErased(state, event.data);
    default:
      return state;
  }
};
