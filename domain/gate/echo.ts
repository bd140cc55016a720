import type { Json } from "../ports.ts";
import { type FieldPath, isPosition } from "./field-path.ts";

/** Recognises in an answer what a policy hides of the payload that it answers: targets repeat what they are sent. */
export type Echo = {
  /** Whether a text contains a hidden value, however it is written: in other case, or percent-encoded. */
  hides(text: string): boolean;
  /** Whether a member or header of this name is hidden whatever it contains: its value may be another one of the same kind. */
  hidesName(name: string): boolean;
};

/** A shorter value is contained in too many texts by chance: it is recognised only where it is the whole of a text. */
const CONTAINED_LENGTH_MIN = 4;

const scalarsIn = (value: Json): readonly string[] => {
  if (typeof value === "string") return [value];
  if (typeof value === "number") return [String(value)];
  // True, false and null say nothing about whose value they are.
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(scalarsIn);
};

/** The values at a path; one that crosses a list without a position goes on in each element, as in `redactJson`. */
const valuesAt = (value: Json, [first, ...rest]: FieldPath): readonly Json[] => {
  if (first === undefined) return [value];
  if (typeof value !== "object" || value === null) return [];
  if (Array.isArray(value) && !isPosition(first))
    return value.flatMap((element) => valuesAt(element, [first, ...rest]));
  const inside = Object.hasOwn(value, first) ? (value as Readonly<Record<string, Json>>)[first] : undefined;
  return inside === undefined ? [] : valuesAt(inside, rest);
};

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return text;
  }
};

const nameOf = (path: FieldPath): readonly string[] => {
  const name = path.findLast((step) => !isPosition(step));
  return name === undefined ? [] : [name.toLowerCase()];
};

export const echoOf = (payload: Json, paths: readonly FieldPath[]): Echo => {
  const values = paths.flatMap((path) => valuesAt(payload, path).flatMap(scalarsIn));
  const texts = [...new Set(values.map((text) => text.trim().toLowerCase()))].filter((text) => text !== "");
  const names = new Set(paths.flatMap(nameOf));
  const isIn = (text: string): boolean =>
    texts.some((hidden) => (hidden.length < CONTAINED_LENGTH_MIN ? text.trim() === hidden : text.includes(hidden)));
  return {
    hides: (text) => isIn(text.toLowerCase()) || isIn(decoded(text).toLowerCase()),
    hidesName: (name) => names.has(name.toLowerCase()),
  };
};
