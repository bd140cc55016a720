/** Each value has exactly one accepted spelling, so that a signature cannot be sent in two ways. */

const NOT_HEX = 0xff;

const nibble = (code: number): number => {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  if (code >= 0x61 && code <= 0x66) return code - 0x61 + 10;
  return NOT_HEX;
};

/** Buffer's own decoder stops silently at the first wrong character. */
export const decodeHex = (text: string, bytes: number): Buffer | null => {
  if (text.length !== 2 * bytes) return null;
  const decoded = Buffer.allocUnsafe(bytes);
  for (let at = 0; at < bytes; at += 1) {
    const high = nibble(text.charCodeAt(2 * at));
    const low = nibble(text.charCodeAt(2 * at + 1));
    if (high === NOT_HEX || low === NOT_HEX) return null;
    decoded[at] = (high << 4) | low;
  }
  return decoded;
};

/** RFC 4648, section 3.5, with padding: no blanks, no base64url, no stray bits in the last character. */
export const decodeCanonicalBase64 = (text: string): Buffer | null => {
  const decoded = Buffer.from(text, "base64");
  return decoded.toString("base64") === text ? decoded : null;
};

export const decodeBase64 = (text: string, bytes: number): Buffer | null => {
  if (text.length !== 4 * Math.ceil(bytes / 3)) return null;
  const decoded = decodeCanonicalBase64(text);
  return decoded?.length === bytes ? decoded : null;
};

const DIGITS_MAX = 12;

/** `^\d{1,12}$`: whole seconds without sign, fraction or exponent, far below where numbers become inexact. */
export const isTimestamp = (text: string): boolean => {
  if (text.length === 0 || text.length > DIGITS_MAX) return false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code < 0x30 || code > 0x39) return false;
  }
  return true;
};
