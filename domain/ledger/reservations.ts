import type { Release, Settlement } from "./events.ts";

/** The reservations that are left after a release. */
export const withoutReleased = (reservations: readonly number[], release: Release): readonly number[] =>
  reservations.filter((number) => ("up_to" in release ? number > release.up_to : number !== release.reservation));

/** Whether a settlement is for this place, and not for an earlier one of the same event. */
export const isSettledBy = ([oldest]: readonly number[], { up_to: upTo }: Pick<Settlement, "up_to">): boolean =>
  oldest !== undefined && oldest <= upTo;
