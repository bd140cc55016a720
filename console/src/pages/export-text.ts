/** Files of a list's rows. Pure, so that they are tested without a page. */

export type ExportColumn<Row> = { readonly name: string; readonly of: (row: Row) => string | number | null };

/** A spreadsheet reads a cell that begins so as a formula, and names come from strangers (OWASP, "CSV Injection"). */
const FORMULA = /^[=+\-@\t\r]/;

/** RFC 4180, section 2; a text that a spreadsheet would calculate begins with an apostrophe. */
const cellOf = (value: string | number | null): string => {
  if (value === null) return "";
  if (typeof value === "number") return String(value);
  const text = FORMULA.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

const lineOf = (cells: readonly (string | number | null)[]): string => `${cells.map(cellOf).join(",")}\r\n`;

export const csvOf = <Row>(rows: readonly Row[], columns: readonly ExportColumn<Row>[]): string =>
  [columns.map(({ name }) => name), ...rows.map((row) => columns.map(({ of }) => of(row)))].map(lineOf).join("");

/** Each row is a line of JSON, as the API answers it. */
export const ndjsonOf = (rows: readonly unknown[]): string => rows.map((row) => `${JSON.stringify(row)}\n`).join("");
