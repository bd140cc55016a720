import type { Problem } from "../api/calls.ts";

type Place = { readonly label: string; readonly href: string };

/** Events, bytes and sources are counted there against the plan. */
export const USAGE: Place = { label: "Open usage", href: "/usage" };

/** Where the limits of the account's plan stand, by the code of a refusal. */
const PLACES: ReadonlyMap<string, Place> = new Map([
  ["plan-limit", USAGE],
  ["limit-reached", { label: "Open the limits", href: "/settings/account" }],
]);

/** Null for a refusal by something else than the plan. */
export const placeOfLimit = (code: string): Place | null => PLACES.get(code) ?? null;

/** Leads to where the limit stands, after a refusal by it. */
export const PlanLimit = ({ problem }: { readonly problem: Problem | null }) => {
  const place = problem === null ? null : placeOfLimit(problem.code);
  return place === null ? null : (
    <a class="btn" href={place.href}>
      {place.label}
    </a>
  );
};
