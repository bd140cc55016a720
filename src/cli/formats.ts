import type { Terminal, Tone } from "./command.ts";
import { type Line, toneOfState } from "./tone.ts";

export const shownTime = (iso: string): string => iso.replace("T", " ").replace(/(?:\.\d+)?Z$/, "Z");

/** The cell of a table; with a tone on a terminal. */
export type Cell = string | { readonly text: string; readonly tone: Tone | undefined };

const textOf = (cell: Cell): string => (typeof cell === "string" ? cell : cell.text);

const GAP = "  ";

export const tonedTable = (rows: readonly (readonly Cell[])[]): readonly Line[] => {
  const widths: number[] = [];
  for (const row of rows)
    for (const [n, cell] of row.entries()) widths[n] = Math.max(widths[n] ?? 0, textOf(cell).length);
  return rows.map((row) => {
    const text = row
      .map((cell, n) => textOf(cell).padEnd(widths[n] ?? 0))
      .join(GAP)
      .trimEnd();
    let at = 0;
    const tones = row.flatMap((cell, n) => {
      const from = at;
      at += (widths[n] ?? 0) + GAP.length;
      if (typeof cell === "string" || cell.tone === undefined) return [];
      return [{ from, to: from + cell.text.length, tone: cell.tone }];
    });
    return { text, tones };
  });
};

export const table = (rows: readonly (readonly string[])[]): readonly string[] =>
  tonedTable(rows).map(({ text }) => text);

export const stateCell = (state: string): Cell => ({ text: state, tone: toneOfState(state) });

/** A heading or the name of a field, which is of less interest than what it names. */
export const nameCell = (name: string): Cell => ({ text: name, tone: "dim" });

export const plainLine = (text: string): Line => ({ text, tones: [] });

export const printLines = ({ out }: Pick<Terminal, "out">, lines: readonly Line[]): void => {
  for (const { text, tones } of lines) out(text, tones.length === 0 ? undefined : tones);
};

const UNITS_S = [
  ["d", 86_400],
  ["h", 3_600],
  ["min", 60],
] as const;

export const shownSeconds = (seconds: number): string => {
  let rest = Math.ceil(seconds);
  const parts: string[] = [];
  for (const [unit, size] of UNITS_S) {
    if (rest < size && parts.length === 0) continue;
    parts.push(`${Math.floor(rest / size)} ${unit}`);
    rest %= size;
  }
  return [...parts, `${rest} s`].slice(0, 2).join(" ");
};

export const json = (value: unknown): string => JSON.stringify(value);
