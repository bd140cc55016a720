import type { Json, JsonObject } from "../../domain/json.ts";

/** RFC 8785, but a lone surrogate is written as its escape, because the log may contain one. */
export const canonicalJson = (value: Json): string => {
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  const object = value as JsonObject; // Array.isArray does not narrow a readonly array away.
  const members = Object.keys(object)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${canonicalJson(object[name] ?? null)}`);
  return `{${members.join(",")}}`;
};
