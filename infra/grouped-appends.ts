import type { AppendOutcome, GroupedAppend, GroupedOutcome } from "../domain/ports/event-log.ts";

export const REFUSED: GroupedOutcome = { outcome: "refused" };

export const isAppended = (outcome: GroupedOutcome | undefined): boolean => outcome?.outcome === "appended";

/** Decides the appends of a group one after another, for a log that writes all of them or none. */
export const appendedInOrder = <A extends Pick<GroupedAppend, "follows">>(
  appends: readonly A[],
  append: (one: A) => AppendOutcome,
): readonly GroupedOutcome[] => {
  const outcomes: GroupedOutcome[] = [];
  for (const one of appends)
    outcomes.push(one.follows.every((earlier) => isAppended(outcomes[earlier])) ? append(one) : REFUSED);
  return outcomes;
};
