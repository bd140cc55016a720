import type { Json } from "../../domain/json.ts";
import type { Document, Packed, ViewSchema } from "../../domain/ports/view-store.ts";
import { comparableText } from "../view-schema.ts";
import type { SqlRow, SqlValue } from "./driver.ts";
import type { Words } from "./view-words.ts";

type Kind = Exclude<Packed, "subject"> | "text" | "number";
type Column = { readonly name: string; readonly kind: Kind };

/** The two columns that are the id of a numbered view, such as `acc_x/000000000012`. */
type Numbered = { readonly group: string; readonly number: string };

/** Which members of a document are columns of its row. The others are JSON in the column `document`. */
export type Layout = {
  readonly schema: ViewSchema;
  readonly columns: readonly Column[];
  readonly kinds: ReadonlyMap<string, Kind>;
  readonly numbered: Numbered | null;
  /** The member that is what follows the first dash of the member `stream`, and so is not stored; null if none is. */
  readonly subject: string | null;
};

const NUMBER_DIGITS = 12;
const DIGITS = /^\d{12}$/;
const POSITION_DIGITS = 16;

export const quoted = (identifier: string): string => `"${identifier}"`;
export const tableOf = ({ name }: Pick<ViewSchema, "name">): string => quoted(name);
/** The documents of a numbered view that have no number. */
export const othersOf = ({ name }: Pick<ViewSchema, "name">): string => quoted(`${name}/others`);

export const layoutOf = (schema: ViewSchema): Layout => {
  const { members = {}, numbered } = schema.packing ?? {};
  const kinds = new Map<string, Kind>(Object.entries(schema.fields));
  let subject: string | null = null;
  for (const [name, packed] of Object.entries(members)) {
    if (packed === "subject") subject = name;
    else kinds.set(name, packed);
  }
  return {
    schema,
    columns: [...kinds].map(([name, kind]) => ({ name, kind })),
    kinds,
    numbered: numbered === undefined ? null : { group: numbered[0], number: numbered[1] },
    subject,
  };
};

export const numberedId = (group: string, number: number): string =>
  `${group}/${String(number).padStart(NUMBER_DIGITS, "0")}`;

/** Null for an id without a number. */
export const partsOf = (id: string): { readonly group: string; readonly number: number } | null => {
  const end = id.length - NUMBER_DIGITS;
  const digits = id.slice(end);
  return end > 0 && id[end - 1] === "/" && DIGITS.test(digits)
    ? { group: id.slice(0, end - 1), number: Number(digits) }
    : null;
};

const subjectOf = (stream: unknown): string | null =>
  typeof stream === "string" ? stream.slice(stream.indexOf("-") + 1) : null;

const TIME_LENGTH = 24;
const DAY_LENGTH = 10;
const SEPARATORS = [
  [10, "T"],
  [13, ":"],
  [16, ":"],
  [19, "."],
  [23, "Z"],
] as const;
const ZERO = "0".charCodeAt(0);

/** The number that these digits spell; NaN if one of the characters is no digit. */
const numberAt = (text: string, from: number, count: number): number => {
  let number = 0;
  for (let at = from; at < from + count; at += 1) {
    const digit = text.charCodeAt(at) - ZERO;
    if (!(digit >= 0 && digit <= 9)) return Number.NaN;
    number = number * 10 + digit;
  }
  return number;
};

/** When the day begins; NaN unless `Date.toISOString` writes it so, as `Date.parse` takes the 30th of February, too. */
const startOfDay = (day: string): number => {
  const ms = Date.parse(`${day}T00:00:00.000Z`);
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(`${day}T`) ? ms : Number.NaN;
};

/** Most times of a page are of one day, and the engine's own functions take ten times as long as this for a time. */
let lastDay = { text: "1970-01-01", ms: 0 };

/** Milliseconds since 1970; null unless `Date.toISOString` writes exactly this text for them. */
export const timeOf = (text: string): number | null => {
  if (text.length !== TIME_LENGTH) return null;
  for (const [at, character] of SEPARATORS) if (text[at] !== character) return null;
  const [hours, minutes, seconds] = [numberAt(text, 11, 2), numberAt(text, 14, 2), numberAt(text, 17, 2)];
  if (!(hours < 24 && minutes < 60 && seconds < 60)) return null;
  if (!text.startsWith(lastDay.text)) {
    const day = text.slice(0, DAY_LENGTH);
    lastDay = { text: day, ms: startOfDay(day) };
  }
  const ms = lastDay.ms + ((hours * 60 + minutes) * 60 + seconds) * 1_000 + numberAt(text, 20, 3);
  return Number.isNaN(ms) ? null : ms;
};

const POSITION = /^\d{16}$/;

const positionOf = (text: string): number | null => {
  const number = POSITION.test(text) ? Number(text) : Number.NaN;
  return Number.isSafeInteger(number) ? number : null;
};

/** The value of a column; null if the member is absent, or has another type than its column. */
const columnOf = (kind: Kind, value: unknown, words: Words): SqlValue => {
  if (kind === "number") return typeof value === "number" && Number.isFinite(value) ? value : null;
  if (typeof value !== "string") return null;
  if (kind === "word") return words.numberOf(value);
  if (kind === "position") return positionOf(value);
  return kind === "time" ? (timeOf(value) ?? comparableText(value)) : comparableText(value);
};

/** True if `textOf` can read the member from its column, so that the JSON need not have it. */
const isExact = (kind: Kind, value: unknown, column: SqlValue, words: Words): boolean => {
  if (column === null) return false;
  if (kind === "word") return words.wordOf(Number(column)) === value;
  return kind === "text" ? column === value : typeof column === "number";
};

/** The members that no column has exactly, as JSON; null if there are none. */
const restOf = ({ kinds, subject }: Layout, document: Document, inexact: readonly string[]): string | null => {
  const isSubjectKnown = subject !== null && document[subject] === subjectOf(document.stream);
  let text = "";
  for (const name of Object.keys(document)) {
    if (kinds.has(name) ? !inexact.includes(name) : isSubjectKnown && name === subject) continue;
    const value = document[name];
    // The text is put together here, as an object of only these members would be one more copy.
    if (value !== undefined) text += `${text === "" ? "{" : ","}${JSON.stringify(name)}:${shortJson(value)}`;
  }
  return text === "" ? null : `${text}}`;
};

/** The JSON of what is not in columns, or null if nothing is left, and the values of the columns. */
export const valuesOf = (layout: Layout, document: Document, words: Words): readonly SqlValue[] => {
  const values: SqlValue[] = [null];
  const inexact: string[] = [];
  for (const { name, kind } of layout.columns) {
    const value = document[name];
    const column = columnOf(kind, value, words);
    values.push(column);
    if (value !== undefined && !isExact(kind, value, column, words)) inexact.push(name);
  }
  values[0] = restOf(layout, document, inexact);
  return values;
};

/** Times are most of what repeats in documents. JSON has no control characters, so one can mark a short time. */
const TIME_MARK = "\u0001";
const QUOTED_TIME = /"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: it is the mark.
const SHORT_TIME = /\u0001([0-9a-z]+)/g;
const SHORT_RADIX = 36;

const withShortTimes = (json: string): string =>
  json.replace(QUOTED_TIME, (quotedTime) => {
    const ms = timeOf(quotedTime.slice(1, -1));
    return ms === null || ms < 0 ? quotedTime : TIME_MARK + ms.toString(SHORT_RADIX);
  });

const shortJson = (value: Json): string => {
  if (value === null || typeof value === "number" || typeof value === "boolean") return JSON.stringify(value);
  return withShortTimes(JSON.stringify(value));
};

const withWholeTimes = (json: string): string =>
  json.replace(SHORT_TIME, (_, digits: string) => `"${new Date(Number.parseInt(digits, SHORT_RADIX)).toISOString()}"`);

/** SQLite turns a text that spells a number into that number, which no time may have (ECMA-262, time values). */
const isTime = (column: SqlValue): column is number => typeof column === "number" && Math.abs(column) <= 8.64e15;

const jsonOf = (kind: Kind, column: SqlValue, words: Words): string | null => {
  if (column === null) return null;
  if (kind === "word") return JSON.stringify(words.wordOf(Number(column)));
  if (kind === "position") return `"${String(column).padStart(POSITION_DIGITS, "0")}"`;
  if (kind === "time") return isTime(column) ? `"${new Date(column).toISOString()}"` : null;
  return JSON.stringify(column);
};

/** The document as JSON. A member that is in the column and in `document` has the latter's value, as it comes last. */
export const textOf = ({ columns, subject }: Layout, row: SqlRow, words: Words): string => {
  const parts: string[] = [];
  for (const { name, kind } of columns) {
    const json = jsonOf(kind, row[name] ?? null, words);
    if (json !== null) parts.push(`${quoted(name)}:${json}`);
  }
  const followed = subject === null ? null : subjectOf(row.stream);
  if (followed !== null) parts.push(`${quoted(subject ?? "")}:${JSON.stringify(followed)}`);
  if (row.document !== null) {
    const rest = withWholeTimes(String(row.document)).slice(1, -1);
    if (rest !== "") parts.push(rest);
  }
  return `{${parts.join(",")}}`;
};

const FIRST_TIME = Date.UTC(-1, 11, 31, 24);
const LAST_TIME = Date.UTC(10_000, 0) - 1;

/** The first time that is not less than a text as texts; one more than the last if all times are less. */
export const firstTimeFrom = (text: string): number => {
  let low = FIRST_TIME;
  let high = LAST_TIME + 1;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    // Times are ASCII, so their order by UTF-16 units is that by code points up to the first character that differs.
    if (new Date(middle).toISOString() >= text) high = middle;
    else low = middle + 1;
  }
  return low;
};
