import { visibleLine } from "../../domain/visible-text.ts";
import { type Cell, json, nameCell, stateCell, tonedTable } from "./formats.ts";
import type { Line } from "./tone.ts";

export type Row = Readonly<Record<string, unknown>>;
const shown = (value: unknown): string => {
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

/** The fields whose values are states. */
const STATES: readonly string[] = ["status", "state", "health.state"];

export const cellOf = (name: string, value: unknown): Cell =>
  STATES.includes(name) ? stateCell(shown(value)) : shown(value);

/** Each field of an answer on a line of its own; an object or array is JSON, because it has any shape. */
export const fieldLines = (row: Row): readonly Line[] =>
  tonedTable(Object.entries(row).map(([name, value]) => [nameCell(name), cellOf(name, value)]));
