const utf8Encoder = new TextEncoder();
/** Not decoding a byte order mark away keeps the text equal to its bytes. */
const utf8Decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

export const utf8 = (text: string): Uint8Array => utf8Encoder.encode(text);

/** Null if the bytes are not UTF-8. */
export const textOf = (bytes: Uint8Array): string | null => {
  try {
    return utf8Decoder.decode(bytes);
  } catch {
    return null;
  }
};

export const joined = (...parts: readonly Uint8Array[]): Uint8Array => {
  let length = 0;
  for (const part of parts) length += part.length;
  const whole = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
};

export const sameBytes = (a: Uint8Array, b: Uint8Array): boolean => {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i += 1) if (a[i] !== b[i]) return false;
  return true;
};

/** The first difference decides, and where one begins with the other, the shorter comes first. */
export const compareBytes = (a: Uint8Array, b: Uint8Array): number => {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i += 1) {
    const difference = (a[i] ?? 0) - (b[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
};

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

export const toHex = (bytes: Uint8Array): string => {
  let text = "";
  for (const byte of bytes) text += HEX[byte];
  return text;
};

/** Null unless the text is hex in lower case. */
export const fromHex = (text: string): Uint8Array | null => {
  if (!/^(?:[0-9a-f]{2})*$/.test(text)) return null;
  return Uint8Array.from({ length: text.length / 2 }, (_, i) => Number.parseInt(text.slice(2 * i, 2 * i + 2), 16));
};

/** btoa takes one character for each byte, and a call's arguments are limited. */
const CHUNK = 8_192;

/** Base64 with padding (RFC 4648, section 4). */
export const toBase64 = (bytes: Uint8Array): string => {
  let characters = "";
  for (let at = 0; at < bytes.length; at += CHUNK) characters += String.fromCharCode(...bytes.subarray(at, at + CHUNK));
  return btoa(characters);
};

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** Null unless the text is exactly what `toBase64` makes of some bytes, so that no two texts stand for the same. */
export const fromBase64 = (text: string): Uint8Array | null => {
  if (text.length % 4 !== 0 || !BASE64.test(text)) return null;
  const characters = atob(text);
  const bytes = new Uint8Array(characters.length);
  for (let i = 0; i < characters.length; i += 1) bytes[i] = characters.charCodeAt(i);
  const rest = bytes.length % 3;
  return rest !== 0 && toBase64(bytes.subarray(-rest)) !== text.slice(-4) ? null : bytes;
};

/** Eight bytes, the highest first. */
export const uint64 = (value: number): Uint8Array => {
  const bytes = new Uint8Array(8);
  for (let [at, rest] = [7, value]; rest > 0; at -= 1) {
    bytes[at] = rest % 256;
    rest = Math.floor(rest / 256);
  }
  return bytes;
};
