import type { Json, JsonObject } from "../../domain/json.ts";

/** Canonical JSON (RFC 8785), but half a surrogate pair is escaped instead of refused, as the log may contain one. */
export const canonicalJson = (value: Json): string => {
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  const object = value as JsonObject; // Array.isArray does not narrow a readonly array away.
  const members = Object.keys(object)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${canonicalJson(object[name] ?? null)}`);
  return `{${members.join(",")}}`;
};
