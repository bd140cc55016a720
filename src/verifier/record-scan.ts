import { HASH_BYTES, LEAF_PREFIX_BYTE } from "../../domain/evidence/merkle.ts";

/**
 * Nearly all lines of an export are records, and JSON.parse, base64 and the joined prefix would copy each of them four
 * times. So a record that stands exactly as exporters write it is read from its bytes. Any other line, and whatever is
 * wrong with one, is left to the parser, which knows every form and says what is wrong.
 */

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

const START = bytesOf('{"kind":"record","index":');
const LEAF = bytesOf(',"leaf":"');
const LEAF_HASH = bytesOf('","leaf_hash":"');
const END = bytesOf('"}');

const ZERO = 0x30;
const PADDING = 0x3d;
/** Fewer than those of the largest exact integer. */
const DIGITS_MAX = 15;
const NO_DIGIT = 255;
const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
/** Base64 writes 32 bytes as so many characters. */
const HASH_CHARACTERS = 44;

const sextets = (): Uint8Array => {
  const values = new Uint8Array(256).fill(NO_DIGIT);
  for (const [value, character] of [...ALPHABET].entries()) values[character.charCodeAt(0)] = value;
  return values;
};
/** The six bits of each character of base64. */
const SEXTETS = sextets();

const hasAt = (line: Uint8Array, at: number, part: Uint8Array): boolean => {
  if (line.length < at + part.length) return false;
  for (let i = 0; i < part.length; i += 1) if (line[at + i] !== part[i]) return false;
  return true;
};

/** True for a record as exporters write it; others are found by parsing. It is quick, as most lines are records. */
export const looksLikeRecord = (line: Uint8Array): boolean => hasAt(line, 0, START);

/** `read` is the index of the first byte that is no base64, `written` the number of bytes that were decoded. */
type Decoded = { readonly read: number; readonly written: number };

/** The digit of base64 at this place. */
const digitAt = (line: Uint8Array, place: number): number => SEXTETS[line[place] ?? 0] ?? NO_DIGIT;

/** Decodes base64 with padding from `from` on, to `out` at `at`; null if it is not the one form of its bytes. */
const decode = (line: Uint8Array, from: number, out: Uint8Array, at: number): Decoded | null => {
  let read = from;
  let write = at;
  // A look past the end of an array is slow, and would make every later one slow.
  for (const last = line.length - 4; read <= last; read += 4, write += 3) {
    const a = digitAt(line, read);
    const b = digitAt(line, read + 1);
    const c = digitAt(line, read + 2);
    const d = digitAt(line, read + 3);
    if ((a | b | c | d) === NO_DIGIT) break;
    out[write] = (a << 2) | (b >> 4);
    out[write + 1] = (b << 4) | (c >> 2);
    out[write + 2] = (c << 6) | d;
  }
  const length = decodeEnd(line, read, out, write);
  return length === null ? null : { read: length === 0 ? read : read + 4, written: write + length - at };
};

/** Decodes the last characters, those with padding: 0 to 2 bytes. */
const decodeEnd = (line: Uint8Array, read: number, out: Uint8Array, write: number): 0 | 1 | 2 | null => {
  const a = digitAt(line, read);
  if (a === NO_DIGIT) return 0;
  const b = digitAt(line, read + 1);
  const c = digitAt(line, read + 2);
  if (b === NO_DIGIT || line[read + 3] !== PADDING) return null;
  out[write] = (a << 2) | (b >> 4);
  // Bits that belong to no byte have to be 0, or two texts would stand for the same bytes.
  if (c === NO_DIGIT) return line[read + 2] === PADDING && (b & 15) === 0 ? 1 : null;
  out[write + 1] = (b << 4) | (c >> 2);
  return (c & 3) === 0 ? 2 : null;
};

export type ScannedRecord = {
  readonly index: number;
  /** The leaf, and before it the byte that is hashed with it. The bytes change with the next record. */
  readonly prefixedLeaf: Uint8Array;
  /** The hash that the line says; null if it says none. */
  readonly leafHash: Uint8Array | null;
};

export class RecordScan {
  readonly #hash = new Uint8Array(HASH_BYTES + 1);
  #leaf = new Uint8Array(0);

  /** `read` is the index of the first byte after the number. */
  #index(line: Uint8Array, from: number): { readonly read: number; readonly index: number } | null {
    let index = 0;
    let read = from;
    for (let digit = (line[read] ?? 0) - ZERO; digit >= 0 && digit <= 9; digit = (line[read] ?? 0) - ZERO) {
      index = index * 10 + digit;
      read += 1;
    }
    const length = read - from;
    const isNumber = length === 1 || (length > 1 && length <= DIGITS_MAX && line[from] !== ZERO);
    return isNumber ? { read, index } : null;
  }

  /** Null if the line is no record in the form in which exporters write it. */
  read(line: Uint8Array): ScannedRecord | null {
    if (!looksLikeRecord(line)) return null;
    const number = this.#index(line, START.length);
    if (number === null || !hasAt(line, number.read, LEAF)) return null;
    if (this.#leaf.length < line.length) {
      this.#leaf = new Uint8Array(2 * line.length);
      this.#leaf[0] = LEAF_PREFIX_BYTE;
    }
    const leaf = decode(line, number.read + LEAF.length, this.#leaf, 1);
    if (leaf === null) return null;
    const { index } = number;
    const prefixedLeaf = this.#leaf.subarray(0, leaf.written + 1);
    if (hasAt(line, leaf.read, END) && leaf.read + END.length === line.length)
      return { index, prefixedLeaf, leafHash: null };
    const hashAt = leaf.read + LEAF_HASH.length;
    // The longest text that fits ends with the line, so that nothing is written beyond the hash.
    if (!hasAt(line, leaf.read, LEAF_HASH) || line.length - hashAt !== HASH_CHARACTERS + END.length) return null;
    const hash = decode(line, hashAt, this.#hash, 0);
    if (hash?.written !== HASH_BYTES || !hasAt(line, hash.read, END)) return null;
    return { index, prefixedLeaf, leafHash: this.#hash.subarray(0, HASH_BYTES) };
  }
}
