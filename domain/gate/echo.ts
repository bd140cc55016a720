import type { Json, JsonObject } from "../ports.ts";
import { type FieldPath, isPosition } from "./field-path.ts";
import { PathTree } from "./path-tree.ts";

/** Recognises in an answer what a policy hides of the payload that it answers: targets repeat what they are sent. */
export type Echo = {
  /**
   * Whether a text contains a hidden value, however it is written: in other case, with other separators, percent-encoded,
   * with escapes of JSON, in base64 or in hex.
   */
  hides(text: string): boolean;
  /** Whether a member or header of this name is hidden whatever it contains: its value may be another one of the same kind. */
  hidesName(name: string): boolean;
};

/** A shorter value is contained in too many texts by chance: it is recognised only where it stands apart. */
const CONTAINED_LENGTH_MIN = 4;
/** Letters and digits of a shorter value follow each other in too many texts by chance. */
const BARE_LENGTH_MIN = 6;
/** Each text of an answer is searched for each value, so more values would keep the event loop busy for too long. */
const VALUES_MAX = 100;
/** A double keeps so many digits of every decimal number (IEEE 754, binary64). */
const DIGITS_EXACT_MAX = 15;

/** False where a target may have been sent other digits than these: more than a double keeps, or an exponent. */
const isExact = (value: number): boolean => {
  const text = String(value);
  return Number.isSafeInteger(value) || (!text.includes("e") && text.replace(/\D/g, "").length <= DIGITS_EXACT_MAX);
};

/** Calls `found` with each scalar inside a value until that answers false, which is then the answer. */
const eachScalar = (value: Json, found: (scalar: string | number) => boolean): boolean => {
  if (typeof value === "string" || typeof value === "number") return found(value);
  // True, false and null say nothing about whose value they are.
  if (typeof value !== "object" || value === null) return true;
  const inside: readonly Json[] = Array.isArray(value) ? value : Object.values(value);
  return inside.every((inner) => eachScalar(inner, found));
};

/** Calls `found` with each scalar at the paths; one that crosses a list goes on in each element, as in `redactJson`. */
const eachHidden = (value: Json, tree: PathTree, found: (scalar: string | number) => boolean): boolean => {
  if (tree.isEnd) return eachScalar(value, found);
  if (tree.isEmpty || typeof value !== "object" || value === null) return true;
  if (Array.isArray(value)) {
    const each = tree.hasPositions ? null : tree.element(0);
    return each?.isEmpty === true || value.every((it, index) => eachHidden(it, each ?? tree.element(index), found));
  }
  const object = value as JsonObject; // Array.isArray does not narrow a readonly array away.
  return tree
    .names()
    .every((name) => !Object.hasOwn(object, name) || eachHidden(object[name] ?? null, tree.member(name), found));
};

/** In lower case, each once. Null where there are too many, or where a number is not the one that was sent. */
const hiddenTexts = (payload: Json, paths: readonly FieldPath[]): readonly string[] | null => {
  const texts = new Set<string>();
  const isKnown = eachHidden(payload, PathTree.of(paths), (scalar) => {
    if (typeof scalar === "number" && !isExact(scalar)) return false;
    const text = String(scalar).trim().toLowerCase();
    if (text !== "") texts.add(text);
    return texts.size <= VALUES_MAX;
  });
  return isKnown ? [...texts] : null;
};

const decodedRun = (run: string): string => {
  try {
    return decodeURIComponent(run);
  } catch {
    return run;
  }
};

/** Each run of percent-encoded bytes apart, so that a single percent sign hides none of the others. */
const percentDecoded = (text: string): string =>
  text.replaceAll("+", " ").replace(/(?:%[0-9a-f]{2})+/gi, (run) => decodedRun(run));

/** Of JSON inside a text (RFC 8259, section 7). Escaped control characters count as separators. */
const unescaped = (text: string): string =>
  text
    .replace(/\\u([0-9a-f]{4})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replace(/\\+(["\\/])/g, "$1");

const BASE64 = /[A-Za-z0-9+/_-]{6,}={0,2}/g;
const HEX = /(?:[0-9a-f]{2}){4,}/gi;

const bytesIn = (text: string): readonly string[] => [
  ...(text.match(BASE64) ?? []).map((run) => Buffer.from(run, "base64").toString("utf8")),
  ...(text.match(HEX) ?? []).map((run) => Buffer.from(run, "hex").toString("utf8")),
];

/** The ways to read a text, without repetition. Encodings may be inside each other once. */
const readingsOf = (text: string): readonly string[] => {
  const plain = [text, percentDecoded(text), percentDecoded(percentDecoded(text)), unescaped(text)];
  return [...new Set([...plain, unescaped(percentDecoded(text)), bytesIn(text).join("\n")])].filter((it) => it !== "");
};

/** Letters and digits alone, because a target may group a number or punctuate a text otherwise. */
const bare = (text: string): string => text.normalize("NFKC").replace(/[^\p{L}\p{N}]+/gu, "");

const nameOf = (path: FieldPath): readonly string[] => {
  const name = path.findLast((step) => !isPosition(step));
  return name === undefined ? [] : [name.toLowerCase()];
};

type Hidden = { readonly text: string; readonly bare: string | null };

const hiddenFrom = (text: string): Hidden => {
  const letters = bare(text);
  return { text, bare: letters.length < BARE_LENGTH_MIN ? null : letters };
};

const isIn = (text: string, all: readonly Hidden[]): boolean => {
  const letters = bare(text);
  const words = new Set([text.trim(), ...text.split(/[^\p{L}\p{N}.]+/u)]);
  return all.some((hidden) => {
    if (hidden.text.length < CONTAINED_LENGTH_MIN) return words.has(hidden.text);
    return text.includes(hidden.text) || (hidden.bare !== null && letters.includes(hidden.bare));
  });
};

/** Null where nobody can tell what an answer repeats: too many values are hidden, or one is not known to the digit. */
export const echoOf = (payload: Json, paths: readonly FieldPath[]): Echo | null => {
  const texts = hiddenTexts(payload, paths);
  if (texts === null) return null;
  const all = texts.map(hiddenFrom);
  const names = new Set(paths.flatMap(nameOf));
  // No reading is longer than its text.
  const shortest = Math.min(...all.map((hidden) => (hidden.bare ?? hidden.text).length));
  return {
    hides: (text) => text.length >= shortest && readingsOf(text).some((reading) => isIn(reading.toLowerCase(), all)),
    hidesName: (name) => names.has(name.toLowerCase()),
  };
};
