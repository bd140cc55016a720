import { monthEnd } from "../../domain/calendar.ts";
import { until } from "./program.ts";

/** Longer than any test of a month's quota takes. */
const ROOM_MS = 60_000;

/** For a program with the machine's own clock: where the month (UTC) is about to end, the next one is waited for. */
export const insideMonth = (): Promise<true> =>
  until("the month has room", () => monthEnd(Date.now()) - Date.now() > ROOM_MS || null, 2 * ROOM_MS);
