import { DAY_MS } from "../calendar.ts";
import { planKnown } from "./overage.ts";
import type { Plan } from "./plans.ts";

/** A plan that kept payloads for longer than the one behind it, and until when (ISO-8601 UTC with milliseconds) it held. */
export type Outlasting = { readonly plan: string; readonly until: string };

/** What ended after `after` and by `upTo`, null for whenever, keeps its payload for the days of `plan`. */
export type RetentionTerm = { readonly plan: Plan; readonly after: string | null; readonly upTo: string | null };

/** Nobody can say what the plan of a newer build promised. */
const daysOf = (plan: string): number => planKnown(plan)?.retentionDays ?? Number.POSITIVE_INFINITY;

/**
 * Behind a change at `at`, oldest first: a smaller plan is no promise taken back, so what ended under the larger one keeps
 * its days. Each has fewer of them than the one before it, as what keeps longer, and held later, covers the others.
 */
export const outlasting = (
  before: readonly Outlasting[],
  { from, to, at }: { readonly from: string; readonly to: string; readonly at: string },
): readonly Outlasting[] =>
  [...before.filter(({ plan }) => daysOf(plan) > daysOf(from)), { plan: from, until: at }].filter(
    ({ plan, until }) => daysOf(plan) > daysOf(to) && Date.parse(until) + daysOf(plan) * DAY_MS > Date.parse(at),
  );

/** Under the plan that holds and those that outlast it. What belongs to a plan that is not known is in none of them. */
export const termsUnder = (plan: string, outlasted: readonly Outlasting[]): readonly RetentionTerm[] => {
  const ends = outlasted.map(({ until }) => until);
  return [...outlasted.map((it) => it.plan), plan].flatMap((name, n) => {
    const known = planKnown(name);
    return known === null ? [] : [{ plan: known, after: ends[n - 1] ?? null, upTo: ends[n] ?? null }];
  });
};
