import type { Spread } from "./spread.ts";

export type Row = {
  readonly name: string;
  readonly value: string;
  /** The figure's target as text; undefined if it has no target. */
  readonly bar?: string;
  readonly isMet?: boolean;
};

export const amount = (value: number): string => {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toLocaleString("en-US", { maximumFractionDigits: digits, minimumFractionDigits: digits });
};

export const microseconds = (ms: number): string => `${amount(ms * 1_000)} µs`;

export const milliseconds = ({ p50, p95, p99 }: Spread): string => `${[p50, p95, p99].map(amount).join(" / ")} ms`;

export const atLeast = (name: string, value: number, bar: number, unit = ""): Row => ({
  name,
  value: `${amount(value)}${unit}`,
  bar: `at least ${amount(bar)}`,
  isMet: value >= bar,
});

export const atMost = (name: string, value: number, bar: number, unit: string): Row => ({
  name,
  value: `${amount(value)} ${unit}`,
  bar: `at most ${amount(bar)} ${unit}`,
  isMet: value <= bar,
});

const mark = ({ isMet }: Row): string => (isMet === undefined ? "" : isMet ? "MET" : "MISSED");

export const table = (head: readonly string[], lines: readonly (readonly string[])[]): string => {
  const all = [head, ...lines];
  const widths = head.map((_, column) => Math.max(...all.map((line) => (line[column] ?? "").length)));
  const line = (cells: readonly string[]): string =>
    `| ${widths.map((width, column) => (cells[column] ?? "").padEnd(width)).join(" | ")} |`;
  const rule = `|${widths.map((width) => "-".repeat(width + 2)).join("|")}|`;
  return [line(head), rule, ...lines.map(line)].join("\n");
};

export const figures = (rows: readonly Row[]): string =>
  table(
    ["measured", "value", "bar", ""],
    rows.map((row) => [row.name, row.value, row.bar ?? "", mark(row)]),
  );
