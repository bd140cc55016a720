import { roleIncludes } from "../account/events.ts";
import { type FieldPath, parseFieldPath } from "../gate/field-path.ts";
import type { Configuration } from "./configuration.ts";

type Visibility = { readonly hidden: readonly FieldPath[]; readonly isRevealable: boolean };

export type PolicyIds = readonly (string | null | undefined)[];

/** A field is hidden if any policy hides it; a reveal is allowed only if every policy that hides fields allows it. */
const visibilityOf = ({ policy }: Configuration, ids: PolicyIds): Visibility => {
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

const seesLess = (before: Visibility, after: Visibility): boolean =>
  after.hidden.some((path) => !before.hidden.some((outer) => isInside(path, outer))) ||
  (after.hidden.length > 0 && before.isRevealable && !after.isRevealable);

/** The result says whether approvers see less. Many agents share their policies, so its answers are cached. */
export const visibilityComparison = (before: Configuration, after: Configuration) => {
  const known = new Map<string, boolean>();
  return (was: PolicyIds, is: PolicyIds): boolean => {
    const key = JSON.stringify([was, is]);
    const answer = known.get(key) ?? seesLess(visibilityOf(before, was), visibilityOf(after, is));
    known.set(key, answer);
    return answer;
  };
};
