import { hash } from "node:crypto";
import type { Randomness } from "../../domain/ports/randomness.ts";
import { lengthPrefixed } from "./length-prefixed.ts";

/** Base32 of RFC 4648, section 6, in lower case, because ids stand in URLs and are read aloud. */
const ALPHABET = "abcdefghijklmnopqrstuvwxyz234567";

/** 160 bits are enough that no two ids collide, and are exactly 32 characters of base32. */
const ID_BYTES = 20;

export const base32 = (bytes: Uint8Array): string => {
  let text = "";
  let bits = 0;
  let held = 0;
  for (const byte of bytes) {
    bits = ((bits << 8) | byte) & 0xfff;
    held += 8;
    while (held >= 5) {
      held -= 5;
      text += ALPHABET.charAt((bits >>> held) & 31);
    }
  }
  return held === 0 ? text : text + ALPHABET.charAt((bits << (5 - held)) & 31);
};

export const derivedId = (prefix: string, ...parts: string[]): string =>
  prefix + base32(hash("sha256", lengthPrefixed(parts), "buffer").subarray(0, ID_BYTES));

export const randomId = (prefix: string, randomness: Randomness): string => prefix + base32(randomness.bytes(ID_BYTES));
