export const shownTime = (iso: string): string => iso.replace("T", " ").replace(/(?:\.\d+)?Z$/, "Z");

export const table = (rows: readonly (readonly string[])[]): readonly string[] => {
  const widths: number[] = [];
  for (const row of rows) for (const [n, cell] of row.entries()) widths[n] = Math.max(widths[n] ?? 0, cell.length);
  return rows.map((row) =>
    row
      .map((cell, n) => cell.padEnd(widths[n] ?? 0))
      .join("  ")
      .trimEnd(),
  );
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
