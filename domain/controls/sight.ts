import { roleIncludes } from "../account/events.ts";
import { type FieldPath, parseFieldPath } from "../gate/field-path.ts";
import type { Configuration } from "./configuration.ts";

/** What an approver does not see of a request, and whether the policies let an approver reveal it. */
type Sight = { readonly hidden: readonly FieldPath[]; readonly isRevealable: boolean };

/** Null and undefined where there is no policy. */
export type PolicyIds = readonly (string | null | undefined)[];

/** Each policy that applies to a request hides its own fields, and each of them has to allow that they are revealed. */
const sightOf = ({ policy }: Configuration, ids: PolicyIds): Sight => {
  const hiding = ids
    .map((id) => policy.get(id ?? ""))
    .filter((it) => it !== undefined)
    .filter(({ redact = [] }) => redact.length > 0);
  return {
    hidden: hiding.flatMap(({ redact = [] }) => redact.map(parseFieldPath)).filter((path) => path !== null),
    isRevealable: hiding.every(({ approval }) =>
      (approval?.reveal ?? []).some((role) => roleIncludes("approver", role)),
    ),
  };
};

const isInside = (path: FieldPath, outer: FieldPath): boolean => outer.every((name, level) => path[level] === name);

/** Whether an approver is shown less than before. A field is compared by its path, as written. */
const seesLess = (before: Sight, after: Sight): boolean =>
  after.hidden.some((path) => !before.hidden.some((outer) => isInside(path, outer))) ||
  (after.hidden.length > 0 && before.isRevealable && !after.isRevealable);

/**
 * Whether an approver is shown less of a request to which the policies `is` apply than of one to which `was` applied before.
 * Many agents have the same policies, so each pair of lists is compared once.
 */
export const sightComparison = (before: Configuration, after: Configuration) => {
  const known = new Map<string, boolean>();
  return (was: PolicyIds, is: PolicyIds): boolean => {
    const key = JSON.stringify([was, is]);
    const answer = known.get(key) ?? seesLess(sightOf(before, was), sightOf(after, is));
    known.set(key, answer);
    return answer;
  };
};
