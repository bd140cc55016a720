import type { Quoted, Words } from "../../domain/personal/words.ts";

/** The type of an answer in which people's words are texts again. */
export type Shown<T> = T extends Words | Quoted
  ? string
  : T extends readonly (infer Item)[]
    ? readonly Shown<Item>[]
    : T extends object
      ? { readonly [K in keyof T]: Shown<T[K]> }
      : T;

/** An answer has this in place of words that were erased; the audit log says when, by whom and why. */
const ERASED_WORDS = "[erased]";

const WORDS_ID = /^per_[a-z2-7]{32}$/;
/** SHA-256 in hex. */
const COMMITMENT = /^[0-9a-f]{64}$/;

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Exactly these members: an object of a user's that only looks like a commitment stays as it is. */
const hasOnly = (value: object, ...names: readonly string[]): boolean =>
  Object.keys(value).length === names.length && names.every((name) => Object.hasOwn(value, name));

export const isWords = (value: unknown): value is Words =>
  isObject(value) &&
  hasOnly(value, "id", "commitment", "size") &&
  typeof value.id === "string" &&
  WORDS_ID.test(value.id) &&
  typeof value.commitment === "string" &&
  COMMITMENT.test(value.commitment) &&
  Number.isSafeInteger(value.size);

const isQuoted = (value: unknown): value is Quoted =>
  isObject(value) && hasOnly(value, "sentence", "words") && typeof value.sentence === "string" && isWords(value.words);

const wordsIn = (value: unknown): readonly Words[] => {
  if (Array.isArray(value)) return value.flatMap(wordsIn);
  if (!isObject(value)) return [];
  return isWords(value) ? [value] : Object.values(value).flatMap(wordsIn);
};

const filled = (value: unknown, textOf: (words: Words) => string): unknown => {
  if (Array.isArray(value)) return value.map((item) => filled(item, textOf));
  if (!isObject(value)) return value;
  if (isWords(value)) return textOf(value);
  if (isQuoted(value)) return `${value.sentence}: ${textOf(value.words)}`;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, filled(member, textOf)]));
};

/** Reads each of the words once, although several records may name them. */
export const withWords = async <T>(value: T, read: (words: Words) => Promise<unknown>): Promise<Shown<T>> => {
  const all = new Map(wordsIn(value).map((words) => [words.id, words]));
  const texts = new Map(await Promise.all([...all].map(async ([id, words]) => [id, await read(words)] as const)));
  const textOf = ({ id }: Words): string => {
    const text = texts.get(id);
    return typeof text === "string" ? text : ERASED_WORDS;
  };
  // `filled` replaces what `Shown` replaces, which the compiler cannot follow.
  return (all.size === 0 ? value : filled(value, textOf)) as Shown<T>;
};
