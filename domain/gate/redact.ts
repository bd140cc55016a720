import type { Json, JsonObject } from "../json.ts";
import type { FieldPath } from "./field-path.ts";
import { PathTree } from "./path-tree.ts";

export const REDACTED = "[redacted]";

const redactList = (list: readonly Json[], tree: PathTree): Json => {
  if (tree.hasPositions) return list.map((element, index) => redactAt(element, tree.element(index)));
  const each = tree.element(0);
  return each.isEmpty ? list : list.map((element) => redactAt(element, each));
};

const redactAt = (value: Json, tree: PathTree): Json => {
  if (tree.isEnd) return REDACTED;
  if (tree.isEmpty || typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return redactList(value, tree);
  const object = value as JsonObject; // Array.isArray does not narrow a readonly array away.
  const names = tree.names().filter((name) => Object.hasOwn(object, name));
  if (names.length === 0) return object;
  // The spread makes these names own properties, so that `__proto__` stays a field.
  const copy: Record<string, Json> = { ...object };
  for (const name of names) copy[name] = redactAt(object[name] ?? null, tree.member(name));
  return copy;
};

/** A path that crosses a list without a position hides the value in each element. */
export const redactJson = (value: Json, paths: readonly FieldPath[]): Json => redactAt(value, PathTree.of(paths));
