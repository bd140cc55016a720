import { count, euro } from "../../design/format.ts";
import { type JsonNode, parseJsonSource } from "../../design/json-source.ts";

/** What is sent, as rows that a person reads: every field, to its end, with the numbers as they were sent. */

type FieldRow = {
  readonly pointer: string;
  readonly label: string;
  readonly text: string;
  /** True if the value is a text, false if it is a number, true, false, null or empty. */
  readonly isText: boolean;
};

/** What JSON writes without quotes and a reader could take for the text. */
const LITERALS: ReadonlySet<string> = new Set(["null", "true", "false", "{}", "[]"]);

/** How a text is shown that would look like nothing, or like another value; null for any other. */
export const unlikeText = (text: string): string | null => {
  if (text === "") return "empty text";
  if (text.trim() === "") return text.length === 1 ? "a space" : `${text.length} spaces`;
  return LITERALS.has(text) ? `the text “${text}”` : null;
};

/** `customer_id` in the third level reads as `customer › id`. */
const labelOf = (path: readonly string[]): string =>
  path.length === 0 ? "Payload" : path.map((it) => it.replaceAll("_", " ")).join(" › ");

const rowsOf = (node: JsonNode, path: readonly string[], pointer: string): readonly FieldRow[] => {
  const leaf = (text: string): readonly FieldRow[] => [
    { pointer, label: labelOf(path), text, isText: node.kind === "string" },
  ];
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

const memberOf = (node: JsonNode | null | undefined, name: string): JsonNode | undefined =>
  node?.kind === "object" ? node.members.find(({ key }) => key === name)?.value : undefined;

/** Of a bundle, the payload of each step, whose pointer begins with the step's place. */
const payloadRows = (root: JsonNode | null): readonly FieldRow[] => {
  const payload = memberOf(root, "payload");
  if (payload === undefined) return [];
  const bundle = memberOf(root, "bundle_id");
  const isBundle = bundle?.kind === "string" && payload.kind === "array";
  if (!isBundle) return rowsOf(payload, [], "");
  return payload.items.flatMap((step, at) => {
    const sent = memberOf(step, "payload");
    return sent === undefined ? [] : rowsOf(sent, [], `/${at}`);
  });
};

/** From the text of `GET /v1/approvals/{id}`; the payload is the member `payload`. */
export const sentFields = (answer: string): SentFields => {
  const rows = payloadRows(parseJsonSource(answer));
  return {
    rows: rows.map((row) => ({ ...row, text: row.text.slice(0, VALUE_CHARACTERS_MAX) })),
    isCut: rows.some(({ text }) => text.length > VALUE_CHARACTERS_MAX),
  };
};

/** A field as `GET /v1/approvals/{id}/context` has it. */
type Known = {
  readonly pointer: string;
  readonly label: string;
  readonly value?: unknown;
  readonly hidden: boolean;
};

export type ComparedRow = FieldRow & {
  readonly isHidden: boolean;
  /** What the last approved request had here; null if there is nothing to compare with. */
  readonly before: string | null;
  /** "the same", "changed", "new", "removed" or how many times as much or less; empty if nothing is compared. */
  readonly change: string;
};

const written = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value ?? null));
const tidy = (times: number): string => (times >= 10 ? count(Math.round(times)) : times.toFixed(1).replace(/\.0$/, ""));

/** From this factor on, a number is told as a multiple. */
const MULTIPLE = 2;
/** Numbers with more digits are rounded by readers, so that two of them only seem to be equal. */
const EXACT_DIGITS = 15;

const changeOf = (text: string, value: unknown, before: unknown): string => {
  if (typeof value === "number" && text.replace(/\D/g, "").length > EXACT_DIGITS) return "not compared";
  if (written(value) === written(before) && typeof value === typeof before) return "the same";
  if (typeof value !== "number" || typeof before !== "number" || value <= 0 || before <= 0) return "changed";
  if (value / before >= MULTIPLE) return `${tidy(value / before)} times as much`;
  return before / value >= MULTIPLE ? `${tidy(before / value)} times less` : "changed";
};

type Compared = {
  readonly rows: readonly FieldRow[];
  readonly known: readonly Known[];
  /** Of the last approved one of the same action and agent; null if there is none. */
  readonly previous: readonly Known[] | null;
  /** Pointers of what this reader is not shown. */
  readonly hidden: readonly string[];
};

/** The rows with their labels, beside what was approved last; fields that only the last one had come at the end. */
export const comparedFields = ({ rows, known, previous, hidden }: Compared): readonly ComparedRow[] => {
  const now = new Map(known.map((it) => [it.pointer, it] as const));
  const last = new Map(previous?.map((it) => [it.pointer, it] as const));
  const isHidden = new Set([...hidden, ...known.flatMap((it) => (it.hidden && hidden.length > 0 ? it.pointer : []))]);
  const here = rows.map((row): ComparedRow => {
    const own = now.get(row.pointer);
    const before = last.get(row.pointer);
    // Without a label of the action, the API says the names on the way, which are in the row in better words.
    const isNamed = own !== undefined && !row.pointer.endsWith(own.label.replaceAll(" › ", "/"));
    const label = isNamed ? own.label : row.label;
    const shown = { ...row, label, isHidden: isHidden.has(row.pointer) };
    if (shown.isHidden || previous === null || own === undefined || own.hidden || before?.hidden === true)
      return { ...shown, before: null, change: "" };
    if (before === undefined) return { ...shown, before: null, change: "new" };
    return { ...shown, before: written(before.value), change: changeOf(row.text, own.value, before.value) };
  });
  const there = new Set(rows.map(({ pointer }) => pointer));
  const gone = (previous ?? []).filter((it) => !there.has(it.pointer) && !it.hidden && now.size > 0);
  const whole = [...isHidden].filter((pointer) => !there.has(pointer));
  const none = { before: null, change: "", isHidden: false, isText: false };
  return [
    ...here,
    ...whole.map((pointer) => ({ ...none, pointer, label: pointer || "The whole payload", text: "", isHidden: true })),
    ...gone.map((it) => ({
      ...none,
      pointer: it.pointer,
      label: it.label,
      text: "",
      before: written(it.value),
      change: "removed",
    })),
  ];
};

/** A member of the approval besides its payload, as text; null if there is none. */
const textAt = (root: JsonNode | null, ...names: readonly string[]): string | null => {
  const found = names.reduce<JsonNode | null | undefined>((node, name) => memberOf(node, name), root);
  return found === undefined || found === null || !("text" in found) || found.text === "null" ? null : found.text;
};

const changed = (what: string, was: string | null, is: string | null): readonly string[] =>
  was === is || was === null || is === null ? [] : [`The ${what} was ${was} and is now ${is}.`];

const euroText = (amount: string | null): string | null => (amount === null ? null : euro(Number(amount)));

/** "The cost was €1,240.00 and is now €1,420.00.", of all that differs between two texts of one approval. */
export const changesBetween = (before: string, after: string): readonly string[] => {
  const [was, is] = [parseJsonSource(before), parseJsonSource(after)];
  const old = new Map(payloadRows(was).map((it) => [it.pointer, it] as const));
  const now = payloadRows(is);
  const pointers = new Set(now.map(({ pointer }) => pointer));
  return [
    ...changed("cost", euroText(textAt(was, "cost_eur")), euroText(textAt(is, "cost_eur"))),
    ...changed("address", textAt(was, "endpoint", "url"), textAt(is, "endpoint", "url")),
    ...now.flatMap(({ pointer, label, text }) => {
      const known = old.get(pointer);
      return known === undefined ? [`The ${label} is new: ${text}.`] : changed(label, known.text, text);
    }),
    ...[...old.values()].filter(({ pointer }) => !pointers.has(pointer)).map(({ label }) => `The ${label} is gone.`),
  ];
};
