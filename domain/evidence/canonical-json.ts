import type { Json, JsonObject } from "../json.ts";
import { sortTexts } from "./sort-texts.ts";

/**
 * Canonical JSON (RFC 8785). A lone surrogate, for which the RFC has no form, is escaped as JSON.stringify does it, so
 * that two different payloads never have the same digest. A leaf has U+FFFD instead (`leaf.ts`).
 */
export const canonicalJson = (value: Json): string => {
  // One native call for the whole of a sorted copy takes half the time of writing each member by itself.
  const sorted = inOrder(value);
  return sorted === undefined ? written(value) : JSON.stringify(sorted);
};

/** The value with the members of every object in order; undefined if an object cannot keep them so. */
const inOrder = (value: Json): Json | undefined => {
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) {
    const items: Json[] = [];
    for (const item of value) {
      const sorted = inOrder(item);
      if (sorted === undefined) return undefined;
      items.push(sorted);
    }
    return items;
  }
  const object = value as JsonObject; // Array.isArray does not narrow a readonly array away.
  const names = sortTexts(Object.keys(object));
  if (!canKeepOrder(names)) return undefined;
  const copy: Record<string, Json> = {};
  for (const name of names) {
    const sorted = inOrder(object[name] ?? null);
    if (sorted === undefined) return undefined;
    copy[name] = sorted;
  }
  return copy;
};

/**
 * JavaScript lists members whose names are whole numbers first, and takes `__proto__` for the prototype. A name that
 * begins with a digit sorts before ":", so the first name tells whether there is one.
 */
const canKeepOrder = (sorted: readonly string[]): boolean => (sorted[0] ?? ":") >= ":" && !sorted.includes("__proto__");

/** Each member by itself, for names that no object keeps in order. */
const written = (value: Json): string => {
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(written).join(",")}]`;
  const object = value as JsonObject; // As above.
  const members = Object.keys(object)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${written(object[name] ?? null)}`);
  return `{${members.join(",")}}`;
};

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
