import type { Json, JsonObject } from "../ports.ts";
import { type FieldPath, isPosition } from "./field-path.ts";

export const REDACTED = "[redacted]";

const redactList = (list: readonly Json[], path: FieldPath, level: number): Json => {
  const name = path[level] ?? "";
  // A list where the author named a field: better every element's field than none.
  if (!isPosition(name)) return list.map((element) => redactAt(element, path, level));
  const position = Number(name);
  return position < list.length
    ? list.map((element, index) => (index === position ? redactAt(element, path, level + 1) : element))
    : list;
};

const redactAt = (value: Json, path: FieldPath, level: number): Json => {
  if (level === path.length) return REDACTED;
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return redactList(value, path, level);
  const object = value as JsonObject; // Array.isArray does not narrow a readonly array away.
  const name = path[level] ?? "";
  if (!Object.hasOwn(object, name)) return object;
  // fromEntries defines own properties: a field called __proto__ stays a field.
  return Object.fromEntries(
    Object.entries(object).map(([key, inner]) => [key, key === name ? redactAt(inner, path, level + 1) : inner]),
  );
};

/**
 * A copy in which the values at these field paths are "[redacted]", objects and lists as a whole; the input is left as it
 * is. A path that crosses a list without a position applies to each element. A path that leads nowhere changes nothing.
 */
export const redactJson = (value: Json, paths: readonly FieldPath[]): Json =>
  paths.reduce((redacted, path) => redactAt(redacted, path, 0), value);
