import { count, counted, listTotal } from "../../design/format.ts";

type Counts = {
  readonly shown: number;
  /** Of those that are shown, the ones of which it is known that they no longer match. */
  readonly left: number;
  /** What matches, as the list was last read. */
  readonly total: number;
};

/**
 * "50 of 204". Rows that no longer match stay where they are, so more may be shown than match: no more than the total is
 * said to match, and the others are named apart.
 */
export const shownOf = ({ shown, left, total }: Counts): string => {
  const matching = Math.min(shown - left, total);
  const others = shown - matching;
  const more = others === 0 ? "" : `; ${counted(others, "row")} no longer ${others === 1 ? "matches" : "match"}`;
  return `${count(matching)} of ${listTotal(total)}${more}`;
};
