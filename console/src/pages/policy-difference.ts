import type { Definition, Json } from "./policy-definition.ts";
import { hasLabel, wordsOf } from "./policy-fields.ts";

/** How two versions of a policy differ, value by value. Pure. */

export type Change = {
  /** The words on the way, such as `Approval › Only when`. */
  readonly label: string;
  readonly kind: "new" | "changed" | "removed";
  readonly before: string;
  readonly after: string;
};

type Members = { readonly [name: string]: Json };

const isMembers = (value: Json | undefined): value is Members =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A rule as its row says it, anything else as it stands in the text. */
const written = (value: Json | undefined): string => {
  if (typeof value === "string") return value;
  if (isMembers(value) && typeof value.name === "string" && typeof value.when === "string")
    return `“${value.name}” refuses when ${value.when}`;
  if (Array.isArray(value)) return value.map((it) => written(it)).join("; ");
  return value === undefined ? "" : JSON.stringify(value);
};

const namesIn = (list: readonly Members[]): readonly string[] =>
  list.flatMap(({ name }) => (typeof name === "string" ? [name] : []));

/** True if rules can be told apart by their names, and those that stay keep their order, which decides who refuses. */
const areNamed = (before: readonly Members[], after: readonly Members[]): boolean => {
  const [a, b] = [namesIn(before), namesIn(after)];
  const isUnique = (names: readonly string[], list: readonly Members[]): boolean =>
    names.length === list.length && new Set(names).size === list.length;
  const [kept, stays] = [a.filter((it) => b.includes(it)), b.filter((it) => a.includes(it))];
  return isUnique(a, before) && isUnique(b, after) && kept.join("\n") === stays.join("\n");
};

const areMembers = (value: Json | undefined): value is readonly Members[] =>
  Array.isArray(value) && value.every(isMembers);

/** Both with names for their parts, so that parts with one name are compared; null if they have no parts. */
const partsOf = (before: Json | undefined, after: Json | undefined): readonly [Members, Members] | null => {
  if (isMembers(before) && isMembers(after)) return [before, after];
  if (!areMembers(before) || !areMembers(after)) return null;
  const byName = areNamed(before, after);
  const parts = (list: readonly Members[]): Members =>
    Object.fromEntries(list.map((it, at) => [byName ? String(it.name) : String(at + 1), it]));
  return [parts(before), parts(after)];
};

/** A group of the form that comes or goes is told by its fields. */
const orEmpty = (value: Json | undefined, other: Json | undefined, path: readonly string[]): Json | undefined =>
  value === undefined && hasLabel(path) && isMembers(other) && Object.keys(other).length > 0 ? {} : value;

/** What the form has is ticked there or not. It asks whether a policy only observes, the definition whether it refuses. */
const asTicked = (value: Json | undefined, path: readonly string[]): Json | undefined => {
  if (typeof value !== "boolean" || !hasLabel(path)) return value;
  return (path[0] === "block_on_violation") === value ? "no" : "yes";
};

const changesIn = (before: Json | undefined, after: Json | undefined, path: readonly string[]): readonly Change[] => {
  const parts = partsOf(orEmpty(before, after, path), orEmpty(after, before, path));
  if (parts !== null) {
    const [a, b] = parts;
    const names = [...new Set([...Object.keys(a), ...Object.keys(b)])];
    return names.flatMap((name) => changesIn(a[name], b[name], [...path, name]));
  }
  if (JSON.stringify(before) === JSON.stringify(after)) return [];
  const kind = before === undefined ? "new" : after === undefined ? "removed" : "changed";
  const [was, becomes] = [before, after].map((it) => written(asTicked(it, path)));
  return [{ label: wordsOf(path), kind, before: was ?? "", after: becomes ?? "" }];
};

/** Every value that differs; empty if only the layout does. */
export const changesBetween = (before: Definition, after: Definition): readonly Change[] =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((name) =>
    changesIn(before[name], after[name], [name]),
  );
