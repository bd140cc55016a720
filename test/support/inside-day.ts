import { untilMidnight } from "../../domain/calendar.ts";
import { until } from "./program.ts";

/** Longer than any test of a day's ledger takes. */
const ROOM_MS = 30_000;

/** For a program with the machine's own clock: where the day (UTC) is about to end, the next one is waited for. */
export const insideDay = (): Promise<true> =>
  until("the day has room", () => untilMidnight("UTC", Date.now()) > ROOM_MS || null, 2 * ROOM_MS);
