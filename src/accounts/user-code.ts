import type { Randomness } from "../../domain/ports/randomness.ts";

/** Consonants only, so that no code is a word and no letter is taken for a digit or another letter (RFC 8628, 6.1). */
const LETTERS = "BCDFGHJKLMNPQRSTVWXZ";
/** 34 bits, which nobody guesses within a code's life and the tries that a person has. */
const LENGTH = 8;
/** Bytes from here on would make the first letters likelier than the others. */
const BYTES_FAIR = 256 - (256 % LETTERS.length);
/** Typed with the dash, blanks and small letters of any kind, a code is not much longer. */
export const USER_CODE_LENGTH_MAX = 32;

export const randomUserCode = (randomness: Randomness): string => {
  let code = "";
  while (code.length < LENGTH) {
    for (const byte of randomness.bytes(LENGTH)) {
      if (byte < BYTES_FAIR && code.length < LENGTH) code += LETTERS.charAt(byte % LETTERS.length);
    }
  }
  return code;
};

export const shownUserCode = (code: string): string => `${code.slice(0, LENGTH / 2)}-${code.slice(LENGTH / 2)}`;

/** The code that a person typed, without what separates its letters; null if it can be none. */
export const userCodeOf = (typed: string): string | null => {
  const code = typed.toUpperCase().replaceAll(/[^A-Z0-9]/g, "");
  return code.length === LENGTH && [...code].every((letter) => LETTERS.includes(letter)) ? code : null;
};
