import { monthOf } from "../calendar.ts";
import { OVERAGE_BLOCK_EVENTS, PLANS, type Plan } from "./plans.ts";

/** Blocks begun beyond what a plan includes; whole numbers throughout, so nothing is ever rounded. */
export const blocksBeyond = (plan: Plan, events: number): number =>
  plan.hardStop ? 0 : Math.ceil(Math.max(0, events - plan.eventsPerMonth) / OVERAGE_BLOCK_EVENTS);

export const planKnown = (name: string): Plan | null =>
  // Own keys only: a plan called "constructor" is none.
  Object.hasOwn(PLANS, name) ? PLANS[name as Plan["name"]] : null;

/** A plan that a later build dropped is the free one. */
export const planNamed = (name: string): Plan => planKnown(name) ?? PLANS.free;

/** The more expensive of two plans, which includes what the other does. */
export const largerOf = (one: string, other: string): string =>
  planNamed(other).priceEurMonth > planNamed(one).priceEurMonth ? other : one;

/** `month` is YYYY-MM. */
export const monthBefore = (month: string): string => monthOf(Date.parse(`${month}-01T00:00:00.000Z`) - 1);

/** What is known of months, by month: nothing is asked of any before the last one. */
export const newestTwo = <V>(months: Readonly<Record<string, V>>): Readonly<Record<string, V>> =>
  Object.fromEntries(Object.entries(months).toSorted().slice(-2));
