/**
 * A look at the bytes of a JSON text that tells of nearly every leaf, in a tenth of the time and without garbage, that it
 * is in canonical form (RFC 8785). Writing the form again and comparing is the rule; this only spares it.
 */

const QUOTE = 0x22;
const COMMA = 0x2c;
const ZERO = 0x30;
const NINE = 0x39;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_LIST = 0x5d;
const FIRST_LETTER = 0x61;
const LAST_LETTER = 0x7a;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const FIRST_NOT_ASCII = 0x80;

/** Whole numbers of more digits may be written in another way. */
const DIGITS_MAX = 15;
const DEPTH_MAX = 32;

const isDigit = (byte: number): boolean => byte >= ZERO && byte <= NINE;

/** The escapes of two characters that the canonical form has; those with a slash or a "u" are not among them. */
const isShortEscape = (byte: number): boolean => ESCAPED.includes(byte);
const ESCAPED: readonly number[] = Array.from('"\\bfnrt', (character) => character.charCodeAt(0));

/** Where the text that begins at `from` has its closing quote; -1 if it has an escape that may not be canonical. */
const endOfText = (bytes: Uint8Array, from: number): number => {
  for (let at = from; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte === QUOTE) return at;
    if (byte !== BACKSLASH) continue;
    at += 1;
    if (at >= bytes.length || !isShortEscape(bytes[at] ?? 0)) return -1;
  }
  return -1;
};

/** Where the digits that begin at `from` end; -1 unless they are a whole number that is written in one way. */
const endOfNumber = (bytes: Uint8Array, from: number): number => {
  let at = from;
  while (at < bytes.length && isDigit(bytes[at] ?? 0)) at += 1;
  const next = bytes[at];
  return at - from <= DIGITS_MAX && (next === COMMA || next === CLOSE_LIST || next === CLOSE_OBJECT) ? at : -1;
};

type Part = { from: number; to: number };

/** Whether the name sorts after the one before it; false for one of which bytes do not tell. */
const isAfter = (bytes: Uint8Array, before: Part, { from, to }: Part): boolean => {
  for (let at = from; at < to; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte >= FIRST_NOT_ASCII || byte === BACKSLASH) return false;
  }
  if (before.from === -1) return true;
  const length = Math.min(to - from, before.to - before.from);
  for (let i = 0; i < length; i += 1) {
    const difference = (bytes[from + i] ?? 0) - (bytes[before.from + i] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return to - from > before.to - before.from;
};

/** Of bytes that JSON.parse takes: true if they are canonical for certain. False says nothing. */
export const isPlainlyCanonical = (bytes: Uint8Array): boolean => {
  /** The last name of each object that is open, at its depth. */
  const names: Part[] = [];
  let depth = -1;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte === QUOTE) {
      const [from, to] = [at + 1, endOfText(bytes, at + 1)];
      if (to === -1) return false;
      at = to;
      if (bytes[to + 1] !== COLON) continue;
      const before = names[depth];
      if (before === undefined || !isAfter(bytes, before, { from, to })) return false;
      [before.from, before.to] = [from, to];
      at += 1;
    } else if (byte === OPEN_OBJECT || byte === OPEN_LIST) {
      depth += 1;
      if (depth === DEPTH_MAX) return false;
      const name = names[depth];
      if (name === undefined) names.push({ from: -1, to: -1 });
      else name.from = -1;
    } else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) depth -= 1;
    else if (isDigit(byte)) {
      const end = endOfNumber(bytes, at);
      if (end === -1) return false;
      at = end - 1;
    } else if (byte !== COMMA && (byte < FIRST_LETTER || byte > LAST_LETTER)) return false;
  }
  return true;
};
