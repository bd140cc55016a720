import type { BundleEvent } from "../domain/bundle/events.ts";
import { dayIn } from "../domain/calendar.ts";
import type { DeliveryEvent } from "../domain/delivery/events.ts";
import type { DeliveryStatus } from "../domain/delivery/status.ts";
import type { GateName } from "../domain/gate/verdict.ts";
import type { Position, RecordedEvent } from "../domain/ports/event-log.ts";
import { admittedStatus, type Decision, determinedCost, endedCost, givenBackIn, isDecision } from "./event-fold.ts";
import { denialIn } from "./gate-denials.ts";
import { eventOf } from "./projection.ts";

/** A refused bundle is counted as one, apart from events: it has none. */
export const REFUSED_BUNDLE = "bundles_blocked";

/**
 * What the sums need of an event that can still change, or of a bundle while it is refused. `is_final` marks one that cannot: it is removed, so the view has
 * no document for most events.
 */
export type StatsEvent = {
  readonly account: string;
  /** The day of `received_at` in the account's time zone. */
  readonly day: string;
  readonly received_at: string;
  readonly status: DeliveryStatus | typeof REFUSED_BUNDLE;
  readonly origin_kind: "source" | "agent";
  readonly origin_id: string;
  readonly endpoint_id: string | null;
  /** The requested action; null for a source's event. */
  readonly action: string | null;
  readonly policy_id: string | null;
  /** The gate that refused the last request. */
  readonly gate: GateName | null;
  /** Micro-euros. */
  readonly cost: number | null;
  readonly attempts: number;
  /** From the admission, release or replay to the end of the successful delivery, in ms; null if not delivered. */
  readonly latency: number | null;
  readonly is_final?: true;
};

/**
 * The zones of an account. An event's document is derived from the zone at the position of its record, however far this
 * document is folded. `changes`: those after the opening, oldest first; left out if there were none.
 */
export type StatsAccount = {
  readonly time_zone: string;
  readonly changes?: readonly { readonly from: Position; readonly time_zone: string }[];
};

/** Only the changes of the records that are folded at once are needed one by one. */
const CHANGES_MAX = 20;

export const withZone = ({ time_zone: first, changes = [] }: StatsAccount, from: Position, time_zone: string) => {
  const all = [...changes, { from, time_zone }];
  const kept = all.slice(-CHANGES_MAX);
  return { time_zone: all.at(-CHANGES_MAX - 1)?.time_zone ?? first, changes: kept };
};

export const zoneAt = ({ time_zone, changes = [] }: StatsAccount, position: Position): string =>
  changes.findLast(({ from }) => from <= position)?.time_zone ?? time_zone;

const DECIDED = { EventAdmitted: null, EventBlocked: "blocked", EventHeld: "held" } as const;

const decided = (
  before: StatsEvent | null,
  { type, data }: Decision,
  account: string,
  zoneOf: () => string,
): StatsEvent | null => {
  const { origin, endpoint_id, verdict } = data;
  const { kind: origin_kind } = origin;
  // The service's own notifications are no requests.
  if (origin_kind === "system") return null;
  const received_at = before?.received_at ?? data.received_at;
  const status = DECIDED[type] ?? admittedStatus(endpoint_id);
  return {
    account,
    day: before?.day ?? dayIn(zoneOf(), Date.parse(received_at)),
    received_at,
    status,
    origin_kind,
    origin_id: origin.id,
    endpoint_id,
    action: origin_kind === "agent" ? data.type : null,
    policy_id: verdict.policy?.id ?? null,
    gate: denialIn(verdict)?.gate ?? null,
    cost: data.cost,
    attempts: 0,
    latency: null,
    ...(status === "recorded" && origin_kind === "source" ? { is_final: true } : {}),
  };
};

/** Null for a bundle that is not refused, or was admitted or held when it was asked for again. */
export const evolveStatsBundle = (
  before: StatsEvent | null,
  recorded: RecordedEvent,
  zoneOf: () => string,
): StatsEvent | null => {
  const { type, data } = eventOf<BundleEvent>(recorded);
  if (type === "BundleAdmitted" || type === "BundleHeld") return null;
  if (type !== "BundleBlocked") return before;
  const { origin, verdict } = data;
  const received_at = before?.received_at ?? data.received_at;
  return {
    account: recorded.meta.account,
    day: before?.day ?? dayIn(zoneOf(), Date.parse(received_at)),
    received_at,
    status: REFUSED_BUNDLE,
    origin_kind: "agent",
    origin_id: origin.id,
    endpoint_id: null,
    action: null,
    policy_id: verdict.policy?.id ?? null,
    gate: denialIn(verdict)?.gate ?? null,
    cost: null,
    attempts: 0,
    latency: null,
  };
};

/** A final cost is the last that an agent's delivery records; a source's was determined before. */
const withCost = (event: StatsEvent, cost: number | null): StatsEvent => {
  const changed = { ...event, cost };
  return event.status === "delivered" ? { is_final: true, ...changed } : changed;
};

/** The cost of a bundle's step may still be given back until its bundle has ended; that of an undo is final. */
const withStepCost = (
  event: StatsEvent,
  data: Extract<DeliveryEvent, { type: "BundleStepEnded" }>["data"],
): StatsEvent => {
  const cost = endedCost(event.cost, data);
  return data.bundle.undo ? withCost(event, cost) : { ...event, cost };
};

/** A step's event after its undo, which gives its cost back, or at the end of its bundle. */
export const withBundle = (event: StatsEvent, recorded: RecordedEvent): StatsEvent =>
  givenBackIn(recorded) === null ? withCost(event, event.cost) : { ...event, cost: 0 };

const delivered = (event: StatsEvent, { at, admitted_at }: { at: string; admitted_at: string }): StatsEvent => {
  const latency = Math.max(0, Date.parse(at) - Date.parse(admitted_at));
  const changed = { ...event, status: "delivered", latency } as const;
  return event.origin_kind === "source" ? { is_final: true, ...changed } : changed;
};

/** A blocked event can come again, and is decided again, even when its payload is erased. */
const erased = (event: StatsEvent): StatsEvent =>
  event.status === "blocked" || event.status === "held" ? event : { is_final: true, ...event };

const replayed = (
  event: StatsEvent,
  { cost, counted }: Extract<DeliveryEvent, { type: "EventReplayed" }>["data"],
): StatsEvent => ({
  ...event,
  status: "retrying",
  cost: cost === undefined || counted !== undefined ? event.cost : cost,
});

/** Follows `evolveEvent`: each event has here the status, cost and attempts that lists show. */
export const evolveStatsEvent = (
  before: StatsEvent | null,
  recorded: RecordedEvent,
  zoneOf: () => string,
): StatsEvent | null => {
  if (before?.is_final === true) return before;
  if (isDecision(recorded)) return decided(before, eventOf<Decision>(recorded), recorded.meta.account, zoneOf);
  if (before === null) return null;
  const event = eventOf<DeliveryEvent>(recorded);
  switch (event.type) {
    case "EventHeldAgain":
      return { ...before, status: "held" };
    case "EventReleased":
      return {
        ...before,
        status: event.data.attempts === undefined ? admittedStatus(event.data.endpoint_id) : "retrying",
      };
    case "HoldEnded":
      return { ...before, status: event.data.outcome };
    case "EventCancelled":
      return { ...before, status: "cancelled" };
    case "AttemptStarted":
      return { ...before, status: "delivering", attempts: before.attempts + 1 };
    case "AttemptFailed":
      return { ...before, status: event.data.next_attempt_at === null ? "failed" : "retrying" };
    case "EventDelivered":
      return delivered(before, event.data);
    case "DeliveryFailed":
      return { ...before, status: "failed" };
    case "EventReplayed":
      return replayed(before, event.data);
    case "CostDetermined":
      return withCost(before, determinedCost(before.cost, event.data));
    case "BundleStepEnded":
      return withStepCost(before, event.data);
    case "PayloadErased":
      return erased(before);
    default:
      return before;
  }
};
