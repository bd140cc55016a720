import { DAY_MS } from "../calendar.ts";
import { planKnown } from "./overage.ts";
import type { Plan } from "./plans.ts";

/** A plan that kept payloads for longer than the next one, and until when it held (ISO-8601 UTC). */
export type OutlastingPlan = { readonly plan: string; readonly until: string };

/** An event that ended after `after` and by `upTo` (null: no bound) keeps its payload for the days of `plan`. */
export type RetentionTerm = { readonly plan: Plan; readonly after: string | null; readonly upTo: string | null };

/** An unknown plan was written by a newer version: its retention is unknown, so nothing is erased early. */
const daysOf = (plan: string): number => planKnown(plan)?.retentionDays ?? Number.POSITIVE_INFINITY;

/**
 * The outlasting plans after a change at `at`, oldest first: what ended under a larger plan keeps that plan's days.
 * Each plan in the list has fewer days than the one before it, because a later plan with more days covers the earlier
 * ones.
 */
export const outlastingPlans = (
  before: readonly OutlastingPlan[],
  { from, to, at }: { readonly from: string; readonly to: string; readonly at: string },
): readonly OutlastingPlan[] =>
  [...before.filter(({ plan }) => daysOf(plan) > daysOf(from)), { plan: from, until: at }].filter(
    ({ plan, until }) => daysOf(plan) > daysOf(to) && Date.parse(until) + daysOf(plan) * DAY_MS > Date.parse(at),
  );

/** The current plan and those that outlast it. Events of an unknown plan belong to no term. */
export const termsUnder = (plan: string, outlasted: readonly OutlastingPlan[]): readonly RetentionTerm[] => {
  const ends = outlasted.map(({ until }) => until);
  return [...outlasted.map((it) => it.plan), plan].flatMap((name, n) => {
    const known = planKnown(name);
    return known === null ? [] : [{ plan: known, after: ends[n - 1] ?? null, upTo: ends[n] ?? null }];
  });
};
