import type { Definition, Json } from "./policy-definition.ts";

/** How two versions of a policy differ, value by value. Pure. */

export type Change = {
  /** The names on the way, such as `approval › when`. */
  readonly label: string;
  readonly kind: "new" | "changed" | "removed";
  readonly before: string;
  readonly after: string;
};

const isMembers = (value: Json | undefined): value is { readonly [name: string]: Json } =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A rule as its row says it; anything else as it stands in the text. */
const written = (value: Json | undefined): string => {
  if (typeof value === "string") return value;
  if (isMembers(value) && typeof value.name === "string" && typeof value.when === "string")
    return `“${value.name}” refuses when ${value.when}`;
  if (Array.isArray(value)) return value.map(written).join("; ");
  return value === undefined ? "" : JSON.stringify(value);
};

const membersOf = (value: Json | undefined): Readonly<Record<string, Json>> | null => {
  if (isMembers(value)) return value;
  if (!Array.isArray(value) || !value.every(isMembers)) return null;
  return Object.fromEntries(value.map((it, at) => [String(at + 1), it]));
};

const changesIn = (before: Json | undefined, after: Json | undefined, path: readonly string[]): readonly Change[] => {
  const [a, b] = [membersOf(before), membersOf(after)];
  if (a !== null && b !== null) {
    const names = [...new Set([...Object.keys(a), ...Object.keys(b)])];
    return names.flatMap((name) => changesIn(a[name], b[name], [...path, name]));
  }
  if (JSON.stringify(before) === JSON.stringify(after)) return [];
  const kind = before === undefined ? "new" : after === undefined ? "removed" : "changed";
  return [{ label: path.join(" › "), kind, before: written(before), after: written(after) }];
};

/** Every value that differs; empty if only the layout does. */
export const changesBetween = (before: Definition, after: Definition): readonly Change[] =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((name) =>
    changesIn(before[name], after[name], [name]),
  );
