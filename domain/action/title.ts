import { type FieldPath, parseFieldPath, readField } from "../gate/field-path.ts";
import type { Json } from "../json.ts";
import { visibleLine } from "../visible-text.ts";

export const TITLE_LENGTH_MAX = 200;
export const TITLE_FIELDS_MAX = 10;
export const LABELS_MAX = 50;
export const LABEL_LENGTH_MAX = 80;
/** A value comes from the agent: a longer one would push the rest of the sentence out of sight. */
const VALUE_MAX = 120;
const NOTHING = "(none)";
const EUR = "|eur";

/** `pointer` is null for the template's own words. */
export type TitlePart = { readonly text: string; readonly pointer: string | null };

type Field = { readonly pointer: string; readonly path: FieldPath; readonly isEur: boolean };
type Parsed =
  | { readonly ok: true; readonly parts: readonly (string | Field)[] }
  | { readonly ok: false; readonly message: string };

/** A brace of the text itself is written twice. */
const PIECES = /\{\{|\}\}|\{([^{}]*)\}|[^{}]+|[{}]/g;

const fieldOf = (inner: string): Field | null => {
  const isEur = inner.endsWith(EUR);
  const pointer = isEur ? inner.slice(0, -EUR.length) : inner;
  const path = pointer.startsWith("/") ? parseFieldPath(pointer) : null;
  return path === null ? null : { pointer, path, isEur };
};

/**
 * A template such as `Refund {/amount|eur} to {/customer/name}`: JSON Pointers (RFC 6901) in braces name fields of the
 * payload, and `|eur` shows a number as an amount.
 */
export const parseTitle = (template: string): Parsed => {
  const refuse = (message: string): Parsed => ({ ok: false, message });
  if (template.trim() === "" || template !== template.trim()) return refuse("must have text, and no space at its ends");
  if (template.length > TITLE_LENGTH_MAX) return refuse(`has more than ${TITLE_LENGTH_MAX} characters`);
  if (visibleLine(template) !== template) return refuse("must be one line without invisible characters");
  const parts: (string | Field)[] = [];
  for (const [piece, inner] of template.matchAll(PIECES)) {
    if (inner !== undefined) {
      const field = fieldOf(inner);
      if (field === null) return refuse(`{${inner}} names no field: write a JSON Pointer, such as {/amount}`);
      parts.push(field);
    } else if (piece === "{" || piece === "}") return refuse("has a single brace: write it twice, or close it");
    else parts.push(piece === "{{" || piece === "}}" ? piece.charAt(0) : piece);
  }
  const fields = parts.filter((part) => typeof part !== "string").length;
  return fields > TITLE_FIELDS_MAX ? refuse(`names more than ${TITLE_FIELDS_MAX} fields`) : { ok: true, parts };
};

const CENTS = 2;
const DECIMALS_MAX = 6;

/** The number as it is if six decimals do not show all of it. */
const euros = (amount: number): string => {
  const text = Math.abs(amount).toFixed(DECIMALS_MAX);
  if (Number(text) !== Math.abs(amount) || text.includes("e")) return String(amount);
  const [units = "", decimals = ""] = text.split(".");
  const shown = `€${units.replace(/\B(?=(?:\d{3})+$)/g, ",")}.${decimals.replace(/0+$/, "").padEnd(CENTS, "0")}`;
  return amount < 0 ? `-${shown}` : shown;
};

const cut = (text: string): string => {
  const characters = [...text.trim()];
  return visibleLine(characters.slice(0, VALUE_MAX).join("")) + (characters.length > VALUE_MAX ? "…" : "");
};

const shownValue = (value: unknown, isEur: boolean): string => {
  if (value === undefined || value === null || value === "") return NOTHING;
  if (typeof value === "number") return isEur ? euros(value) : String(value);
  if (typeof value === "object") return Array.isArray(value) ? "[…]" : "{…}";
  return cut(String(value));
};

/** The sentence that people decide on. The same template and payload always give the same sentence. */
export const titleParts = (template: string, payload: Json): readonly TitlePart[] => {
  const parsed = parseTitle(template);
  if (!parsed.ok) return [{ text: cut(template), pointer: null }];
  return parsed.parts.map((part) =>
    typeof part === "string"
      ? { text: part, pointer: null }
      : { text: shownValue(readField(payload, part.path), part.isEur), pointer: part.pointer },
  );
};

export const titleOf = (template: string, payload: Json): string =>
  titleParts(template, payload)
    .map(({ text }) => text)
    .join("");
