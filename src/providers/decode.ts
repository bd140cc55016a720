/** Each decoder accepts exactly one spelling of a value, so that a signature cannot be sent in two ways. */

const LOWER_HEX = /^[0-9a-f]*$/;

/** Checks the text first, because Buffer's own decoder stops silently at the first wrong character. */
export const decodeHex = (text: string, bytes: number): Buffer | null =>
  text.length === 2 * bytes && LOWER_HEX.test(text) ? Buffer.from(text, "hex") : null;

/** Canonical base64 (RFC 4648, section 3.5) with padding: no blanks, no base64url, no stray bits at the end. */
export const decodeCanonicalBase64 = (text: string): Buffer | null => {
  const decoded = Buffer.from(text, "base64");
  return decoded.toString("base64") === text ? decoded : null;
};

export const decodeBase64 = (text: string, bytes: number): Buffer | null => {
  if (text.length !== 4 * Math.ceil(bytes / 3)) return null;
  const decoded = decodeCanonicalBase64(text);
  return decoded?.length === bytes ? decoded : null;
};

/** Whole Unix seconds without sign, fraction or exponent, far below where numbers become inexact. */
export const isTimestamp = (text: string): boolean => /^[0-9]{1,12}$/.test(text);
