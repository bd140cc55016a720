import type { Release, Settlement } from "./events.ts";

export const withoutReleased = (reservations: readonly number[], release: Release): readonly number[] =>
  reservations.filter((number) => ("up_to" in release ? number > release.up_to : number !== release.reservation));

/** False if the settlement is of an earlier place of the same event, which was released since. */
export const isSettledBy = ([oldest]: readonly number[], { up_to: upTo }: Pick<Settlement, "up_to">): boolean =>
  oldest !== undefined && oldest <= upTo;
