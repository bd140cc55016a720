import type { Json, JsonObject } from "../json.ts";
import { type FieldPath, isPosition } from "./field-path.ts";
import { PathTree } from "./path-tree.ts";

/** Recognises hidden payload values in a receiver's answer, which often repeats the payload. */
export type Echo = {
  /** Finds a hidden value in any spelling: case, separators, accents, escapes (URL, JSON, HTML, C), base64 or hex. */
  hides(text: string): boolean;
  hidesRun(texts: readonly string[]): boolean;
  hidesName(name: string): boolean;
};

/** Shorter values occur by chance in many texts and are recognised only as whole words. */
const CONTAINED_LENGTH_MIN = 4;
/** Values with fewer letters and digits occur by chance in many texts, so they are compared with their separators. */
const BARE_LENGTH_MIN = 6;
/** Every text is searched for every hidden value, so this bounds the time on the event loop. */
const VALUES_MAX = 100;
/** A double keeps this many digits of every decimal number (IEEE 754, binary64). */
const DIGITS_EXACT_MAX = 15;

const ESCAPES_MAX = 4;
const NESTED_BYTES_MAX = 2;
/** A hidden number with fewer digits would be found by chance in many numbers, so it is searched for as text only. */
const DIGITS_MIN = 3;
/** A number in cents, or with two more decimals, ends in zeros that the hidden number lacks. */
const ZEROS_MAX = 2;

/** False if the target may have got other digits than `value` has: beyond a double's precision, or with an exponent. */
const isExact = (value: number): boolean => {
  const text = String(value);
  return Number.isSafeInteger(value) || (!text.includes("e") && text.replace(/\D/g, "").length <= DIGITS_EXACT_MAX);
};

/** Members' names of this form belong to the format; others are data, as in a map keyed by e-mail address. */
const FORMAT_NAME = /^[A-Za-z_][\w-]{0,63}$/;

const eachScalar = (value: Json, found: (scalar: string | number) => boolean): boolean => {
  if (typeof value === "string" || typeof value === "number") return found(value);
  // True, false and null say nothing about a person.
  if (typeof value !== "object" || value === null) return true;
  if (Array.isArray(value)) return value.every((inner) => eachScalar(inner, found));
  return Object.entries(value).every(
    ([name, inner]) => (FORMAT_NAME.test(name) || found(name)) && eachScalar(inner, found),
  );
};

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

const folded = (text: string): string => text.toUpperCase().toLowerCase();

/** Null if echoes cannot be recognised: there are too many hidden values, or a number's digits are not exact. */
const hiddenTexts = (payload: Json, paths: readonly FieldPath[]): readonly string[] | null => {
  const texts = new Set<string>();
  const isKnown = eachHidden(payload, PathTree.of(paths), (scalar) => {
    if (typeof scalar === "number" && !isExact(scalar)) return false;
    const text = folded(String(scalar).trim());
    if (text !== "") texts.add(text);
    return texts.size <= VALUES_MAX;
  });
  return isKnown ? [...texts] : null;
};

const textOf = (bytes: Buffer): string => {
  const text = bytes.toString("utf8");
  return text.includes("\ufffd") ? bytes.toString("latin1") : text;
};

/** Runs of bytes in percent-encoding (RFC 3986, section 2.1) or in C escapes, hex or octal. */
const BYTES_ESCAPED = /(?:%[0-9a-f]{2}|\\{1,8}x[0-9a-f]{2}|\\{1,8}[0-3][0-7]{2})+/gi;
/** Quoted-printable (RFC 2045, section 6.7), decoded separately, as it takes letters after any "=" for a byte. */
const BYTES_QUOTED = /(?:=[0-9a-f]{2})+/gi;
const BYTE_ESCAPED = /\\{1,8}([0-3][0-7]{2})|(?:[%=]|\\{1,8}x)([0-9a-f]{2})/gi;

const bytesUnescaped = (run: string): string =>
  textOf(
    Buffer.from(
      [...run.matchAll(BYTE_ESCAPED)].map(([, octal, hex]) => Number.parseInt(octal ?? hex ?? "", octal ? 8 : 16)),
    ),
  );

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: " " };

const codePoint = (text: string, digits: string, radix: number): string => {
  const code = Number.parseInt(digits, radix);
  return code <= 0x10ffff ? String.fromCodePoint(code) : text;
};

/** Decodes escapes of bytes, JSON (RFC 8259, section 7) and HTML, once. */
const unescaped = (text: string): string =>
  text
    .replace(BYTES_ESCAPED, bytesUnescaped)
    .replace(/\\{1,8}u([0-9a-f]{4})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replace(/\\+(["\\/])/g, "$1")
    .replace(/&#x([0-9a-f]{1,6});?/gi, (all, hex: string) => codePoint(all, hex, 16))
    .replace(/&#([0-9]{1,7});?/g, (all, decimal: string) => codePoint(all, decimal, 10))
    .replace(/&(amp|lt|gt|quot|apos|nbsp);/gi, (all, name: string) => ENTITIES[name.toLowerCase()] ?? all);

const ESCAPE = /[%\\&]/;

const unescapedOften = (text: string): readonly string[] => {
  const all = [text];
  if (!ESCAPE.test(text)) return all;
  for (let times = 0; times < ESCAPES_MAX; times += 1) {
    const last = all.at(-1) ?? "";
    const next = unescaped(last);
    if (next === last) break;
    all.push(next);
  }
  return all;
};

const BASE64 = /[A-Za-z0-9+/_-]{6,}={0,2}/g;
const HEX = /(?:[0-9a-f]{2}[ :-]?){3,}[0-9a-f]{2}[0-9a-f]?/gi;

/** Decoded bytes count only in such printable runs: all others just looked encoded. */
const PRINTED = /[\x20-\x7e\u00a0-\ufffc]{3,}/g;

/** Zeros are dropped, because UTF-16 of plain letters is their UTF-8 with zeros between. */
const printedIn = (decoded: readonly string[]): string =>
  (decoded.join("\n").replaceAll("\0", "").match(PRINTED) ?? []).join("\n");

/** A run may begin with unrelated characters, so each of the four offsets is decoded. */
const fromBase64 = (runs: readonly string[]): readonly string[] =>
  [0, 1, 2, 3].map((skipped) => printedIn(runs.map((run) => Buffer.from(run.slice(skipped), "base64").toString())));

const fromHex = (runs: readonly string[]): readonly string[] =>
  [0, 1].map((skipped) =>
    printedIn(runs.map((run) => Buffer.from(run.replace(/[ :-]/g, "").slice(skipped), "hex").toString())),
  );

const bytesIn = (text: string): string =>
  [...fromBase64(text.match(BASE64) ?? []), ...fromHex(text.match(HEX) ?? [])].filter((it) => it !== "").join("\n");

const misread = (text: string): string => {
  const isBytes = /[\x80-\xff]/.test(text) && !/[\u0100-\uffff]/.test(text);
  return isBytes ? Buffer.from(text, "latin1").toString("utf8") : "";
};

const readingsOf = (text: string): readonly string[] => {
  const plain = unescapedOften(text);
  const [last = ""] = plain.slice(-1);
  const all = new Set([...plain, last.replaceAll("+", " "), misread(text)]);
  for (const it of unescapedOften(text.replace(BYTES_QUOTED, bytesUnescaped))) all.add(it);
  let inside = [text, last];
  for (let depth = 0; depth < NESTED_BYTES_MAX; depth += 1) {
    const found = [...new Set(inside)].map(bytesIn).filter((it) => it !== "");
    inside = found.flatMap((it) => unescapedOften(it).slice(-1));
    for (const it of [...found, ...inside]) all.add(it);
  }
  return [...all].filter((it) => it !== "");
};

/** Targets may group, punctuate or strip accents, so only letters and digits are compared. */
const bare = (text: string): string => text.normalize("NFKD").replace(/[^\p{L}\p{N}]+/gu, "");

const nameOf = (path: FieldPath): readonly string[] => {
  const name = path.findLast((step) => !isPosition(step));
  return name === undefined ? [] : [bareName(name)];
};

const bareName = (name: string): string => bare(name).toLowerCase() || name;

type Hidden = { readonly text: string; readonly bare: string | null };

const hiddenFrom = (text: string): Hidden => {
  const letters = bare(text);
  return { text, bare: letters.length < BARE_LENGTH_MIN ? null : letters };
};

const NUMBER = /^[+-]?\d+(?:\.\d+)?$/;
const NUMBERS = [/\d+(?:[.,]\d+)?/g, /\d{1,3}(?:[.,_'\u00a0\u2009\u202f ]\d{3})+(?:[.,]\d+)?/g];

const digitsOf = (text: string): readonly string[] => {
  if (!NUMBER.test(text)) return [];
  const digits = (text.includes(".") ? text.replace(/0+$/, "") : text).replace(/\D/g, "").replace(/^0+/, "");
  return digits.length < DIGITS_MIN ? [] : [digits];
};

const hasNumber = (text: string, hidden: ReadonlySet<string>): boolean => {
  if (hidden.size === 0) return false;
  const written = NUMBERS.flatMap((numbers) => text.match(numbers) ?? []);
  return written.some((number) => {
    const digits = number.replace(/\D/g, "").replace(/^0+/, "");
    for (let zeros = 0; zeros <= ZEROS_MAX; zeros += 1) {
      if (!digits.endsWith("0".repeat(zeros))) return false;
      if (hidden.has(digits.slice(0, digits.length - zeros))) return true;
    }
    return false;
  });
};

const isIn = (text: string, all: readonly Hidden[]): boolean => {
  const letters = bare(text);
  const words = new Set([text.trim(), ...text.split(/[^\p{L}\p{N}.]+/u)]);
  return all.some((hidden) => {
    if (hidden.text.length < CONTAINED_LENGTH_MIN) return words.has(hidden.text);
    return text.includes(hidden.text) || (hidden.bare !== null && letters.includes(hidden.bare));
  });
};

export const echoOf = (payload: Json, paths: readonly FieldPath[]): Echo | null => {
  const texts = hiddenTexts(payload, paths);
  if (texts === null) return null;
  const all = texts.map(hiddenFrom);
  const names = new Set(paths.flatMap(nameOf));
  const digits = new Set(texts.flatMap(digitsOf));
  const lengths = [
    ...all.map((hidden) => (hidden.bare ?? hidden.text).length),
    ...[...digits].map(({ length }) => length),
  ];
  const shortest = Math.min(...lengths);
  const isRead = (text: string): boolean => isIn(folded(text), all) || hasNumber(text, digits);
  return {
    // An undecodable character may be part of a hidden value.
    hides: (text) => text.length >= shortest && (text.includes("\ufffd") || readingsOf(text).some(isRead)),
    hidesRun(texts) {
      const letters = folded(bare(texts.join("")));
      return all.some((hidden) => hidden.bare !== null && letters.includes(hidden.bare));
    },
    hidesName: (name) => names.has(bareName(name)),
  };
};
