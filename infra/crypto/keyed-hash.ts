import { createHmac, timingSafeEqual } from "node:crypto";
import { lengthPrefixed } from "./length-prefixed.ts";
import { subkey } from "./subkey.ts";

/** A credential is stored as this hash of its token and rights, so that a record rewritten on disk is refused. */
export type KeyedHash = (...parts: readonly string[]) => string;

/** The hash is made under a key for this purpose alone, so it is worthless for any other purpose. */
export const keyedHash = (key: Uint8Array, purpose: string): KeyedHash => {
  const hashKey = subkey(key, purpose);
  return (...parts) => createHmac("sha256", hashKey).update(lengthPrefixed(parts)).digest("hex");
};

export const isSameHash = (a: string, b: string): boolean => {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
};
