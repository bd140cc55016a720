import { createHmac } from "node:crypto";
import { lengthPrefixed } from "./length-prefixed.ts";

/** Hex HMAC-SHA-256 of a header's name and value under a key of the account: it tells equal values, and none can be guessed. */
export type HeaderDigest = (account: string, name: string, value: string) => string;

/** `key`: a subkey of the server's for this purpose alone. */
export const headerDigests =
  (key: Uint8Array): HeaderDigest =>
  (account, name, value) => {
    const ofAccount = createHmac("sha256", key).update(account).digest();
    return createHmac("sha256", ofAccount)
      .update(lengthPrefixed([name, value]))
      .digest("hex");
  };
