import type { Json, JsonObject } from "../json.ts";
import { CanonicalWriter } from "./canonical-writer.ts";

const writer = new CanonicalWriter();

/**
 * Canonical JSON (RFC 8785). A lone surrogate, for which the RFC has no form, is escaped as JSON.stringify does it, so
 * that two different payloads never have the same digest. A leaf has U+FFFD instead (`leaf.ts`).
 */
export const canonicalJson = (value: Json): string => writer.write(value);

const LONE_SURROGATE = /\p{Surrogate}/gu;
const REPLACEMENT = "\ufffd";

/** The value with U+FFFD for each lone surrogate. Of members whose names become equal, the last in UTF-16 order stays. */
export const wellFormed = (value: Json): Json => {
  if (typeof value === "string") return value.replace(LONE_SURROGATE, REPLACEMENT);
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map(wellFormed);
  const object = value as JsonObject; // Array.isArray does not narrow a readonly array away.
  return Object.fromEntries(
    Object.keys(object)
      .sort()
      .map((name) => [name.replace(LONE_SURROGATE, REPLACEMENT), wellFormed(object[name] ?? null)]),
  );
};
