import { monthOf } from "../calendar.ts";
import { OVERAGE_BLOCK_EVENTS, PLANS, type Plan } from "./plans.ts";

export const blocksBeyond = (plan: Plan, events: number): number =>
  plan.hardStop ? 0 : Math.ceil(Math.max(0, events - plan.eventsPerMonth) / OVERAGE_BLOCK_EVENTS);

export const planKnown = (name: string): Plan | null =>
  // `PLANS` inherits "constructor" and other names that are no plans, so only its own properties count.
  Object.hasOwn(PLANS, name) ? PLANS[name as Plan["name"]] : null;

/** An unknown plan counts as the free one. */
export const planNamed = (name: string): Plan => planKnown(name) ?? PLANS.free;

export const largerOf = (one: string, other: string): string =>
  planNamed(other).priceEurMonth > planNamed(one).priceEurMonth ? other : one;

export const monthBefore = (month: string): string => monthOf(Date.parse(`${month}-01T00:00:00.000Z`) - 1);

/** Keys are months (YYYY-MM). Bills need only the current month and the one before it. */
export const newestTwo = <V>(months: Readonly<Record<string, V>>): Readonly<Record<string, V>> =>
  Object.fromEntries(Object.entries(months).toSorted().slice(-2));
