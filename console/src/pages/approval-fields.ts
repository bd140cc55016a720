import { type JsonNode, parseJsonSource } from "../../design/json-source.ts";

/** What is sent, as rows that a person reads: every field, to its end, with the numbers as they were sent. */

export type FieldRow = { readonly pointer: string; readonly label: string; readonly text: string };

/** `customer_id` in the third level reads as `customer › id`. */
const labelOf = (path: readonly string[]): string =>
  path.length === 0 ? "Payload" : path.map((it) => it.replaceAll("_", " ")).join(" › ");

const rowsOf = (node: JsonNode, path: readonly string[], pointer: string): readonly FieldRow[] => {
  const leaf = (text: string): readonly FieldRow[] => [{ pointer, label: labelOf(path), text }];
  if (node.kind === "object") {
    if (node.members.length === 0) return leaf("{}");
    return node.members.flatMap(({ key, value }) =>
      rowsOf(value, [...path, key], `${pointer}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`),
    );
  }
  if (node.kind === "array") {
    if (node.items.length === 0) return leaf("[]");
    return node.items.flatMap((item, at) => rowsOf(item, [...path, String(at + 1)], `${pointer}/${at}`));
  }
  return leaf(node.text);
};

export type SentFields = {
  readonly rows: readonly FieldRow[];
  /** True if a value was cut, so that nobody has read all of it. */
  readonly isCut: boolean;
};

/** A value above this is shown only in part, and a request that has one can only be rejected. */
const VALUE_CHARACTERS_MAX = 64_000;

/** From the text of `GET /v1/approvals/{id}`; the payload is the member `payload`. */
export const sentFields = (answer: string): SentFields => {
  const root = parseJsonSource(answer);
  const payload = root?.kind === "object" ? root.members.find(({ key }) => key === "payload")?.value : undefined;
  const rows = payload === undefined ? [] : rowsOf(payload, [], "");
  return {
    rows: rows.map((row) => ({ ...row, text: row.text.slice(0, VALUE_CHARACTERS_MAX) })),
    isCut: rows.some(({ text }) => text.length > VALUE_CHARACTERS_MAX),
  };
};
