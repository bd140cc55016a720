import { DAY_MS } from "../calendar.ts";
import { planKnown } from "./overage.ts";
import type { Plan } from "./plans.ts";

/** A former plan that kept payloads for longer than each plan after it; it ended at `until` (ISO-8601 UTC). */
export type OutlastingPlan = { readonly plan: string; readonly until: string };

/**
 * An event that ended after `after` and not after `upTo` keeps its payload for the days of `plan`; null means no bound.
 */
export type RetentionTerm = { readonly plan: Plan; readonly after: string | null; readonly upTo: string | null };

/** Days that a plan keeps payloads; infinite if only a newer version knows the plan, so that nothing goes too early. */
const daysOf = (plan: string): number => planKnown(plan)?.retentionDays ?? Number.POSITIVE_INFINITY;

/** Lists former plans by which some payload is still kept for longer than by each plan after them, oldest first. */
export const outlastingPlans = (
  before: readonly OutlastingPlan[],
  { from, to, at }: { readonly from: string; readonly to: string; readonly at: string },
): readonly OutlastingPlan[] =>
  [...before.filter(({ plan }) => daysOf(plan) > daysOf(from)), { plan: from, until: at }].filter(
    ({ plan, until }) => daysOf(plan) > daysOf(to) && Date.parse(until) + daysOf(plan) * DAY_MS > Date.parse(at),
  );

/** Events that ended under an unknown plan belong to no term, so their payloads are kept. */
export const termsUnder = (plan: string, outlasted: readonly OutlastingPlan[]): readonly RetentionTerm[] => {
  const ends = outlasted.map(({ until }) => until);
  return [...outlasted.map((it) => it.plan), plan].flatMap((name, n) => {
    const known = planKnown(name);
    return known === null ? [] : [{ plan: known, after: ends[n - 1] ?? null, upTo: ends[n] ?? null }];
  });
};
