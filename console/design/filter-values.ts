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
};

export type FilterValues = Readonly<Record<string, string | undefined>>;

/** The names in the address that a filter has. */
export const namesOf = ({ name, startOf }: Filter): readonly string[] =>
  startOf === undefined ? [name] : [name, "from", "to"];

export const isSetIn = (filter: Filter, values: FilterValues): boolean =>
  namesOf(filter).some((name) => values[name] !== undefined);

const MOMENT = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:?\d\d)$/;
const EXPECTED_MOMENT = "Write a time with its zone, such as 2026-11-17T13:00:00Z.";

/** A choice may stand for several values of the API. */
const choiceOf = (choices: readonly FilterChoice[], one: string): FilterChoice | undefined =>
  choices.find((it) => it.value.split(",").includes(one));

/** Null for values that the filter takes, else a sentence that says what is expected. */
export const faultOf = (filter: Filter, values: FilterValues): string | null => {
  const { name, choices, expects, startOf } = filter;
  const moments = startOf === undefined ? [] : [values.from, values.to];
  if (moments.some((it) => it !== undefined && !(MOMENT.test(it) && Number.isFinite(Date.parse(it)))))
    return EXPECTED_MOMENT;
  const value = values[name];
  if (value === undefined || expects === null) return null;
  return value.split(",").every((one) => choiceOf(choices, one) !== undefined) ? null : expects;
};

/** Several values of one filter are joined by commas: any of them matches. */
export const wordsOf = ({ name, choices }: Filter, values: FilterValues, clock: Clock): string => {
  const { from, to } = values;
  const value = values[name];
  if (value !== undefined)
    return [...new Set(value.split(",").map((one) => choiceOf(choices, one)?.word ?? one))].join(", ");
  const ends = [from, to].map((it) => (it === undefined ? null : shortTime(it, clock)));
  if (ends[1] === null) return `from ${ends[0]}`;
  return ends[0] === null ? `before ${ends[1]}` : `${ends[0]} to ${ends[1]}`;
};
