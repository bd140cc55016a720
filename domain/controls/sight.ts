import { roleIncludes } from "../account/events.ts";
import { type FieldPath, parseFieldPath } from "../gate/field-path.ts";
import type { Configuration } from "./configuration.ts";

/** The fields hidden from an approver, and whether the policies let an approver reveal them. */
type Sight = { readonly hidden: readonly FieldPath[]; readonly isRevealable: boolean };

/** Null and undefined where there is no policy. */
export type PolicyIds = readonly (string | null | undefined)[];

/** Each policy hides its own fields, and all of them have to allow a reveal. */
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

/** Fields are compared by their paths as written. */
const seesLess = (before: Sight, after: Sight): boolean =>
  after.hidden.some((path) => !before.hidden.some((outer) => isInside(path, outer))) ||
  (after.hidden.length > 0 && before.isRevealable && !after.isRevealable);

/**
 * Whether approvers see less under the policies `is` than under `was` before. Many agents share their policies, so the
 * answers are cached.
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
