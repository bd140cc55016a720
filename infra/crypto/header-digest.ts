import { createHmac } from "node:crypto";
import { lengthPrefixed } from "./length-prefixed.ts";

/** Hex HMAC-SHA-256 of a header under an account's key: shows equality, and cannot be guessed. */
export type HeaderDigest = (account: string, name: string, value: string) => string;

/** `key` is a subkey for this purpose only. */
export const headerDigests =
  (key: Uint8Array): HeaderDigest =>
  (account, name, value) => {
    const ofAccount = createHmac("sha256", key).update(account).digest();
    return createHmac("sha256", ofAccount)
      .update(lengthPrefixed([name, value]))
      .digest("hex");
  };
