/** A double keeps any decimal number of at most 15 characters without an exponent exactly (IEEE 754, binary64). */
const EXACT_LENGTH = 15;
const NUMBER = /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

const ZERO = 0x30;

/** Strips outer zeros, so that equal numbers are equal texts. Loops do it, as many zeros could make a pattern slow. */
const canonical = (text: string): string => {
  const [, whole = "", fraction = "", exponent = "0"] = NUMBER.exec(text) ?? [];
  const digits = whole + fraction;
  let from = 0;
  let to = digits.length;
  while (from < to && digits.charCodeAt(from) === ZERO) from += 1;
  while (to > from && digits.charCodeAt(to - 1) === ZERO) to -= 1;
  return from === to ? "0" : `${digits.slice(from, to)}e${Number(exponent) + whole.length - from}`;
};

/** True if a double keeps the number: it does 0.1, but not 12345678901234567890 (RFC 7493, section 2.2). */
export const isExactNumber = (text: string): boolean => {
  if (text.length <= EXACT_LENGTH && !/[eE]/.test(text)) return true;
  const value = Number(text);
  return Number.isFinite(value) && canonical(text) === canonical(String(value));
};
