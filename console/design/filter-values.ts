import { type Clock, shortTime } from "./format.ts";

export type FilterChoice = { readonly value: string; readonly word: string };

export type Filter = {
  /** The name in the address, which is the API's. */
  readonly name: string;
  readonly label: string;
  readonly choices: readonly FilterChoice[];
  /** What else is expected, for a value that is not among the choices; null if any other text is taken. */
  readonly expects: string | null;
  /** True if several values can be chosen: any of them matches. */
  readonly isSeveral?: boolean;
  /**
   * Of a time: the choices are relative ranges, and `from` and `to` in the address are two moments instead. It answers
   * the first moment of a range at the present.
   */
  readonly startOf?: (range: string) => string | undefined;
  /** What is wrong with values of which each by itself is well; null if nothing is. */
  readonly check?: (values: FilterValues) => string | null;
};

export type FilterValues = Readonly<Record<string, string | undefined>>;

/** The names in the address that a filter has. */
export const namesOf = ({ name, startOf }: Filter): readonly string[] =>
  startOf === undefined ? [name] : [name, "from", "to"];

export const isSetIn = (filter: Filter, values: FilterValues): boolean =>
  namesOf(filter).some((name) => values[name] !== undefined);

const MOMENT = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:?\d\d)$/;
const EXPECTED_MOMENT = "Write a time with its zone, such as 2026-11-17T13:00:00Z.";
const EXPECTED_ONE_TIME = "Choose a range or two moments, not both.";
export const EXPECTED_ORDER = "The end has to come after the beginning.";
/** The most characters that the API takes of one value. */
const LONGEST = 512;
const EXPECTED_SHORTER = `Write at most ${LONGEST} characters.`;
/** So many characters of a value are shown in a chip. */
const SHOWN = 80;

/** A choice may stand for several values of the API. */
const choiceOf = (choices: readonly FilterChoice[], one: string): FilterChoice | undefined =>
  choices.find((it) => it.value.split(",").includes(one));

const faultOfTime = (range: string | undefined, { from, to }: FilterValues): string | null => {
  const moments = [from, to].flatMap((it) => it ?? []);
  const [first = 0, end] = moments.map((it) => (MOMENT.test(it) ? Date.parse(it) : Number.NaN));
  if (Number.isNaN(first + (end ?? 0))) return EXPECTED_MOMENT;
  if (range !== undefined && moments.length > 0) return EXPECTED_ONE_TIME;
  return end !== undefined && first >= end ? EXPECTED_ORDER : null;
};

/** True for several values where the filter takes several, and for one choice, which may itself stand for several. */
const isTaken = ({ choices, isSeveral }: Filter, value: string): boolean => {
  const ones = value.split(",");
  const chosen = new Set(ones.map((one) => choiceOf(choices, one)));
  return !chosen.has(undefined) && ones.length === new Set(ones).size && (isSeveral === true || chosen.size === 1);
};

/** Null for values that the filter takes, else a sentence that says what is expected. */
export const faultOf = (filter: Filter, values: FilterValues): string | null => {
  const { name, expects, startOf, check } = filter;
  const value = values[name];
  if (value !== undefined) {
    if (expects !== null && !isTaken(filter, value)) return expects;
    if (value.length > LONGEST) return EXPECTED_SHORTER;
  }
  return (startOf && faultOfTime(value, values)) ?? check?.(values) ?? null;
};

/** What is expected in place of the values that the filters and the search do not take; empty if they take all. */
export const faultsOf = (filters: readonly Filter[], values: FilterValues): readonly string[] => {
  const faults = filters.flatMap((it) => faultOf(it, values) ?? []);
  return [...new Set([...faults, ...((values.q ?? "").length > LONGEST ? [EXPECTED_SHORTER] : [])])];
};

/** Several values of one filter are joined by commas: any of them matches. */
export const wordsOf = ({ name, choices }: Filter, values: FilterValues, clock: Clock): string => {
  const { from, to } = values;
  const value = values[name];
  if (value !== undefined) {
    const words = [...new Set(value.split(",").map((one) => choiceOf(choices, one)?.word ?? one))].join(", ");
    return words.length > SHOWN ? `${words.slice(0, SHOWN)}…` : words;
  }
  const ends = [from, to].map((it) => (it === undefined ? null : shortTime(it, clock).slice(0, SHOWN)));
  if (ends[1] === null) return `from ${ends[0]}`;
  return ends[0] === null ? `before ${ends[1]}` : `${ends[0]} to ${ends[1]}`;
};
