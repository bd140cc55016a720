import type { Release, Settlement } from "./events.ts";

/** The reservations of a place that are left after a release. */
export const withoutReleased = (reservations: readonly number[], release: Release): readonly number[] =>
  reservations.filter((number) => ("up_to" in release ? number > release.up_to : number !== release.reservation));

/** Whether a settlement is for the place that these reservations hold, and not for an earlier place of the same event. */
export const isSettledBy = ([oldest]: readonly number[], { up_to: upTo }: Pick<Settlement, "up_to">): boolean =>
  oldest !== undefined && oldest <= upTo;
