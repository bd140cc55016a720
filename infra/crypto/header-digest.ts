import { createHmac } from "node:crypto";
import { lengthPrefixed } from "./length-prefixed.ts";

/** Hex HMAC-SHA-256 under an account's key: equal values have equal digests, from which no value can be guessed. */
export type HeaderDigest = (account: string, name: string, value: string) => string;

export const headerDigests =
  (key: Uint8Array): HeaderDigest =>
  (account, name, value) => {
    const ofAccount = createHmac("sha256", key).update(account).digest();
    return createHmac("sha256", ofAccount)
      .update(lengthPrefixed([name, value]))
      .digest("hex");
  };
