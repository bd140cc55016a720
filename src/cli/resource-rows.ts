import { visibleLine } from "../../domain/visible-text.ts";
import { json, table } from "./formats.ts";

export type Row = Readonly<Record<string, unknown>>;
export const shown = (value: unknown): string => {
  if (value === null || value === undefined) return "-";
  return visibleLine(typeof value === "object" ? json(value) : String(value));
};

export const fieldOf = (row: Row, path: string): unknown => {
  let value: unknown = row;
  for (const name of path.split(".")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
    value = Reflect.get(value, name);
  }
  return value;
};

/** Each field of an answer on a line of its own; an object or array is JSON, because it has any shape. */
export const fieldLines = (row: Row): readonly string[] =>
  table(Object.entries(row).map(([name, value]) => [name, shown(value)]));
