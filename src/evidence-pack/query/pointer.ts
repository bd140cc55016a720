import type { Json } from "../../../domain/json.ts";

/** A JSON Pointer (RFC 6901), split into its unescaped reference tokens. */
export type Pointer = readonly string[];

export const TOKENS_MAX = 12;

/** Null if the text is no JSON Pointer, or has more than `TOKENS_MAX` tokens. */
export const pointerOf = (text: string): Pointer | null => {
  if (text === "") return [];
  if (!text.startsWith("/") || /~(?![01])/.test(text)) return null;
  const tokens = text.slice(1).split("/");
  return tokens.length > TOKENS_MAX ? null : tokens.map((it) => it.replaceAll("~1", "/").replaceAll("~0", "~"));
};

/** Undefined if there is no such value. Names are looked up among a value's own members only. */
export const valueAt = (value: Json, pointer: Pointer): Json | undefined => {
  let found: Json = value;
  for (const token of pointer) {
    if (found === null || typeof found !== "object" || !Object.hasOwn(found, token)) return undefined;
    // An array is read by its indexes; `length` is an own member of it, but no value of the JSON text.
    if (Array.isArray(found) && !/^(?:0|[1-9]\d*)$/.test(token)) return undefined;
    found = (found as { readonly [name: string]: Json })[token] as Json; // The check above has found the member.
  }
  return found;
};

export type Scalar = string | number | boolean | null;

export const isScalar = (value: unknown): value is Scalar =>
  value === null || typeof value === "string" || typeof value === "number" || typeof value === "boolean";

/** Distinguishes the text "1" from the number 1. */
export const scalarKey = (value: Scalar): string => JSON.stringify(value);
