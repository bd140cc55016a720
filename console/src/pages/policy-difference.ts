import type { Definition, Json } from "./policy-draft.ts";

/** How two versions of a policy differ, value by value. Pure. */

export type Change = {
  /** The names on the way, such as `approval › when`. */
  readonly label: string;
  readonly kind: "new" | "changed" | "removed";
  readonly before: string;
  readonly after: string;
};

const written = (value: Json | undefined): string =>
  typeof value === "string" ? value : value === undefined ? "" : JSON.stringify(value);

const isMembers = (value: Json | undefined): value is { readonly [name: string]: Json } =>
  typeof value === "object" && value !== null && !Array.isArray(value);

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
