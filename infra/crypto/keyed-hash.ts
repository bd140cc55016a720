import { createHmac, timingSafeEqual } from "node:crypto";
import { lengthPrefixed } from "./length-prefixed.ts";
import { subkey } from "./subkey.ts";

/**
 * 64 hex characters: HMAC-SHA-256 (RFC 2104) over the parts. A credential is stored as the hash of its token and of whom it
 * stands for (account, member, role, …). Without the key nobody can make the hash, so a record that was rewritten in the
 * log's file to stand for somebody else is refused.
 */
export type KeyedHash = (...parts: readonly string[]) => string;

/** Each purpose has a key of its own: a hash that was made for one purpose is worth nothing for another. */
export const keyedHash = (key: Uint8Array, purpose: string): KeyedHash => {
  const hashKey = subkey(key, purpose);
  return (...parts) => createHmac("sha256", hashKey).update(lengthPrefixed(parts)).digest("hex");
};

/** Takes the same time wherever the two differ. */
export const isSameHash = (a: string, b: string): boolean => {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
};
