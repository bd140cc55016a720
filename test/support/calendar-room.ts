import { monthEnd, untilMidnight } from "../../domain/calendar.ts";
import { until } from "./program.ts";

/** For a program with the machine's own clock: where what is counted by is about to end, the next one is waited for. */
const withRoom = (what: string, roomMs: number, leftMs: () => number): Promise<true> =>
  until(`the ${what} has room`, () => leftMs() > roomMs || null, 2 * roomMs);

/** A day (UTC) with more left of it than any test of a day's ledger takes. */
export const awayFromMidnight = (): Promise<true> => withRoom("day", 30_000, () => untilMidnight("UTC", Date.now()));

/** A month (UTC) with more left of it than any test of a month's quota takes. */
export const awayFromMonthEnd = (): Promise<true> => withRoom("month", 60_000, () => monthEnd(Date.now()) - Date.now());
