import type { DeliveryEvent } from "../domain/delivery/events.ts";
import type { RecordedEvent } from "../domain/ports/event-log.ts";
import { eventOf, perDocument } from "./projection.ts";
import { deliveryOf } from "./streams.ts";

/**
 * An account's usage in a calendar month (UTC). Only admitted events of sources count, each once, and no samples. A held event counts
 * when it is released, but in the month of the hold, because it used that month's quota.
 */
export type UsageDocument = {
  readonly account: string;
  /** The month as YYYY-MM. */
  readonly month: string;
  readonly events: number;
  /** Number of requests refused, repeats of an event included. */
  readonly blocked: number;
  /** Number of requests that were admitted only because the violated gate was in observe mode. */
  readonly observed: number;
};

export const usageId = (account: string, month: string): string => `${account}/${month}`;

const monthOf = (at: string): string => at.slice(0, "YYYY-MM".length);

const COUNTED = ["EventAdmitted", "EventBlocked", "EventReleased"] as const satisfies readonly DeliveryEvent["type"][];

type Counted = Extract<DeliveryEvent, { type: (typeof COUNTED)[number] }>;

/** A request that was held again was counted when it was released first. */
const isFirst = ({ type, data }: RecordedEvent): boolean => type !== "EventReleased" || data.attempts === undefined;

const countedIn = (recorded: RecordedEvent): Counted | null => {
  if (!COUNTED.some((type) => type === recorded.type) || deliveryOf(recorded) === null || !isFirst(recorded))
    return null;
  const event = eventOf<Counted>(recorded);
  return event.data.sample === undefined ? event : null;
};

const countedAt = (event: Counted): string => (event.type === "EventReleased" ? event.data.held_at : event.data.at);

export const usage = perDocument<UsageDocument>(
  { name: "usage.v1", fields: {}, indexes: [] },
  (recorded) => {
    const event = countedIn(recorded);
    return event === null ? null : usageId(recorded.meta.account, monthOf(countedAt(event)));
  },
  (document, recorded) => {
    const event = countedIn(recorded);
    if (event === null) return document;
    const { account } = recorded.meta;
    const before = document ?? { account, month: monthOf(countedAt(event)), events: 0, blocked: 0, observed: 0 };
    if (event.type === "EventBlocked") return { ...before, blocked: before.blocked + 1 };
    const [kind, observed] =
      event.type === "EventReleased"
        ? [event.data.origin_kind, event.data.observed]
        : [event.data.origin.kind, event.data.verdict.observed === true];
    return {
      ...before,
      events: before.events + (kind === "source" ? 1 : 0),
      observed: before.observed + (observed ? 1 : 0),
    };
  },
);
