import type { Json, JsonObject } from "../../domain/json.ts";

/**
 * RFC 8785 (JSON Canonicalization Scheme): members sorted by the UTF-16 code units of their names, no white space,
 * numbers and strings as ECMAScript writes them, which is what JSON.stringify does and sort compares by. A lone
 * surrogate, which the RFC leaves to an error, is written as its escape: the log has it, so the record has to show it.
 */
export const canonicalJson = (value: Json): string => {
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  const object = value as JsonObject; // Array.isArray does not narrow a readonly array away.
  const members = Object.keys(object)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${canonicalJson(object[name] ?? null)}`);
  return `{${members.join(",")}}`;
};
