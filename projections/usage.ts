import type { DeliveryEvent } from "../domain/delivery/events.ts";
import { perDocument } from "./projection.ts";
import { deliveryOf } from "./streams.ts";

/** What an account used in a calendar month (UTC). Only admitted events of sources count, each once. */
export type UsageDocument = {
  readonly account: string;
  /** YYYY-MM. */
  readonly month: string;
  readonly events: number;
  /** Requests refused, repeats of the same event included. */
  readonly blocked: number;
  /** Admitted although a gate was violated: what would have been blocked. */
  readonly observed: number;
};

export const usageId = (account: string, month: string): string => `${account}/${month}`;

const monthOf = (at: string): string => at.slice(0, "YYYY-MM".length);

export const usage = perDocument<UsageDocument>(
  { name: "usage.v1", fields: {}, indexes: [] },
  (event) => {
    const counts = event.type === "EventAdmitted" || event.type === "EventBlocked";
    return counts && deliveryOf(event) !== null ? usageId(event.meta.account, monthOf(String(event.data.at))) : null;
  },
  (document, recorded) => {
    // `idOf` lets only these two through.
    const event = recorded as unknown as Extract<DeliveryEvent, { type: "EventAdmitted" | "EventBlocked" }>;
    const { account } = recorded.meta;
    const before = document ?? { account, month: monthOf(event.data.at), events: 0, blocked: 0, observed: 0 };
    if (event.type === "EventBlocked") return { ...before, blocked: before.blocked + 1 };
    return {
      ...before,
      events: before.events + (event.data.origin.kind === "source" ? 1 : 0),
      observed: before.observed + (event.data.verdict.observed === true ? 1 : 0),
    };
  },
);
