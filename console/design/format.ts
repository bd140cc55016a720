import { offsetIn } from "./zone-offsets.ts";

/** How times, spans, money and counts are written. Pure: the zone and the present are given. */

export type Clock = { readonly zone: string; readonly now: number };

export const DAY_MS = 86_400_000;
const WEEKDAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const UNITS = [
  ["d", DAY_MS],
  ["h", 3_600_000],
  ["min", 60_000],
  ["s", 1_000],
] as const;

/** What a clock and a calendar in the zone show. */
type Parts = {
  readonly weekday: string;
  readonly day: number;
  readonly month: string;
  readonly year: number;
  readonly hour: string;
  readonly minute: string;
  readonly second: string;
};

const two = (value: number): string => String(value).padStart(2, "0");

const partsIn = (zone: string, at: number): Parts => {
  const shown = new Date(at + offsetIn(zone, at));
  return {
    weekday: WEEKDAYS[shown.getUTCDay()] ?? "",
    day: shown.getUTCDate(),
    month: MONTHS[shown.getUTCMonth()] ?? "",
    year: shown.getUTCFullYear(),
    hour: two(shown.getUTCHours()),
    minute: two(shown.getUTCMinutes()),
    second: two(shown.getUTCSeconds()),
  };
};

/** Of the present, which each row of a list compares with. */
let lastParts: { readonly of: Clock; readonly parts: Parts } | null = null;

const partsOfNow = (clock: Clock): Parts => {
  if (lastParts?.of !== clock) lastParts = { of: clock, parts: partsIn(clock.zone, clock.now) };
  return lastParts.parts;
};

/** Empty for today, `17 Nov` of this year, `17 Nov 2025` before that. */
const dayBefore = (then: Parts, clock: Clock): string => {
  const today = partsOfNow(clock);
  const isThisYear = then.year === today.year;
  if (isThisYear && then.month === today.month && then.day === today.day) return "";
  return `${then.day} ${then.month}${isThisYear ? "" : ` ${then.year}`}`;
};

const exactClockOf = ({ hour, minute, second }: Parts, at: number): string =>
  `${hour}:${minute}:${second}.${String(new Date(at).getUTCMilliseconds()).padStart(3, "0")}`;

/** Today is `14:02:11`, this year `17 Nov, 14:02`, before that `17 Nov 2025, 14:02`. An unreadable time stays as it is. */
export const shortTime = (iso: string, clock: Clock): string => {
  const at = Date.parse(iso);
  if (Number.isNaN(at)) return iso;
  const then = partsIn(clock.zone, at);
  const day = dayBefore(then, clock);
  return day === "" ? `${then.hour}:${then.minute}:${then.second}` : `${day}, ${then.hour}:${then.minute}`;
};

/** `17 Nov 2026` of `2026-11-17`, a day that has no zone. */
export const dayText = (day: string): string => {
  const at = Date.parse(day);
  if (Number.isNaN(at)) return day;
  const parts = partsIn("UTC", at);
  return `${parts.day} ${parts.month} ${parts.year}`;
};

/** True if both moments are on one day of the zone. */
export const isToday = (iso: string, clock: Clock): boolean => !shortTime(iso, clock).includes(",");

/** The same as `shortTime` with milliseconds, for a list in which each moment matters. */
export const preciseTime = (iso: string, clock: Clock): string => {
  const at = Date.parse(iso);
  if (Number.isNaN(at)) return iso;
  const then = partsIn(clock.zone, at);
  const day = dayBefore(then, clock);
  const exact = exactClockOf(then, at);
  return day === "" ? exact : `${day}, ${exact}`;
};

/** `Tue 17 Nov 2026, 14:02:11.480`, as pages of one event and the audit write it. */
export const exactTime = (iso: string, { zone }: Pick<Clock, "zone">): string => {
  const at = Date.parse(iso);
  if (Number.isNaN(at)) return iso;
  const then = partsIn(zone, at);
  return `${then.weekday} ${then.day} ${then.month} ${then.year}, ${exactClockOf(then, at)}`;
};

/** `Wed 18 Nov, 14:10`: a time that is soon, for people to plan with. */
export const dayAndTime = (at: number, { zone }: Pick<Clock, "zone">): string => {
  const { weekday, day, month, hour, minute } = partsIn(zone, at);
  return `${weekday} ${day} ${month}, ${hour}:${minute}`;
};

export const exactClock = (iso: string, { zone }: Pick<Clock, "zone">): string =>
  exactTime(iso, { zone }).split(", ").at(-1) ?? iso;

/** `0.6 ms`, `812 ms`, `5.2 s`, `6 min 12 s`, `2 d 4 h`: two units at most, and never more than has passed. */
export const duration = (ms: number): string => {
  if (ms < 10) return `${Math.floor(Math.max(ms, 0) * 10) / 10} ms`;
  if (ms < 1_000) return `${Math.floor(ms)} ms`;
  if (ms < 60_000) return `${Math.floor(ms / 100) / 10} s`;
  const first = UNITS.findIndex(([, size]) => ms >= size);
  const [[unit, size] = ["s", 1_000], next] = UNITS.slice(first);
  const whole = Math.floor(ms / size);
  const rest = next === undefined ? 0 : Math.floor((ms - whole * size) / next[1]);
  return next === undefined || rest === 0 ? `${whole} ${unit}` : `${whole} ${unit} ${rest} ${next[0]}`;
};

/** `11 min 04 s`: what is left until a time. The seconds have two digits, so that a countdown does not jump. */
export const countdown = (ms: number): string => {
  const left = Math.max(0, Math.ceil(ms / 1_000));
  const [hours, minutes, seconds] = [Math.floor(left / 3_600), Math.floor((left % 3_600) / 60), left % 60];
  if (hours > 0) return `${hours} h ${String(minutes).padStart(2, "0")} min`;
  return minutes > 0 ? `${minutes} min ${String(seconds).padStart(2, "0")} s` : `${seconds} s`;
};

/**
 * With so many decimals at most and at least, and commas between thousands. `Intl.NumberFormat` writes the same, but the first
 * one takes some 15 ms to make while a page is being drawn. A decimal fraction is rounded as it is written: 1.005 to 1.01.
 */
const decimal = (value: number, most: number, least = 0): string => {
  const size = Math.abs(value);
  const [digits = "", exponent = "0"] = String(size).split("e");
  const rounded = Math.round(Number(`${digits}e${Number(exponent) + most}`));
  const [whole = "", fraction = ""] = Number(`${rounded}e-${most}`).toFixed(most).split(".");
  const kept = fraction.replace(/0+$/, "").padEnd(least, "0");
  const sign = value < 0 && rounded > 0 ? "-" : "";
  return `${sign}${whole.replace(/\B(?=(\d{3})+$)/g, ",")}${kept === "" ? "" : `.${kept}`}`;
};

/** `€1,240.00`; below one cent up to six decimals, because `€0.00` would say that it costs nothing. */
export const euro = (amount: number): string =>
  decimal(amount, amount !== 0 && Math.abs(amount) < 0.01 ? 6 : 2, 2).replace(/\d/, "€$&");

export const count = (value: number): string => decimal(value, 3);

/** The total of a list, which the service counts up to 10,000. */
export const listTotal = (total: number): string => (total >= 10_000 ? "10,000+" : count(total));

/** With one decimal and rounded down, so that 100 % means all. */
export const percent = (part: number, whole: number): string => {
  if (whole === 0) return "–";
  if (part === whole) return "100 %";
  return `${(Math.floor((part * 1_000) / whole) / 10).toFixed(1)} %`;
};

export const bytes = (size: number): string => {
  if (size < 1_000) return size === 1 ? "1 byte" : `${size} bytes`;
  const at = Math.min(2, Math.floor(Math.log10(size) / 3) - 1);
  const [value, unit] = [size / 1_000 ** (at + 1), ["kB", "MB", "GB"][at]];
  return `${Math.floor(value * 10) / 10} ${unit}`;
};

/** `evt_tvnbdk…`: the prefix and six characters. */
export const shortId = (id: string): string => {
  const end = id.indexOf("_") + 7;
  return id.length > end + 1 ? `${id.slice(0, end)}…` : id;
};

/** One thing is singular: `1 event`, `2 events`. */
export const counted = (value: number, one: string, many = `${one}s`): string =>
  `${count(value)} ${value === 1 ? one : many}`;

/** A time within a text that is copied. */
export type CopiedTime = {
  /** As it stands on the page. */
  readonly shown: string;
  /** ISO 8601, UTC. */
  readonly iso: string;
};

/** The text with each time in ISO 8601, in the order of the page; a time of which only a part was selected stays. */
export const withIsoTimes = (text: string, times: readonly CopiedTime[]): string => {
  let done = "";
  let rest = text;
  for (const { shown, iso } of times) {
    const at = rest.indexOf(shown);
    if (at === -1) continue;
    done += rest.slice(0, at) + iso;
    rest = rest.slice(at + shown.length);
  }
  return done + rest;
};
