import { createHmac, hkdfSync } from "node:crypto";
import { lengthPrefixed } from "./length-prefixed.ts";

export const KEY_BYTES = 32;

/** One key for each purpose out of the server's one (HKDF-SHA-256, RFC 5869), so that no two uses share a key. */
export const subkey = (key: Uint8Array, purpose: string): Uint8Array => {
  if (key.length !== KEY_BYTES) throw new Error(`the server's key has ${key.length} bytes and must have ${KEY_BYTES}`);
  return new Uint8Array(hkdfSync("sha256", key, new Uint8Array(0), `countersign/${purpose}`, KEY_BYTES));
};

/** 32 bytes that look random to anyone without the server's key, and are the same when the same command is repeated:
 * a crash between an append and its answer must not lose the secret that is shown only once. `purpose` tells apart
 * the secrets of one command. */
export type DerivedSecret = (commandId: string, purpose: string) => Uint8Array;

export const derivedSecrets = (key: Uint8Array): DerivedSecret => {
  const secretsKey = subkey(key, "derived-secret");
  return (commandId, purpose) =>
    createHmac("sha256", secretsKey)
      .update(lengthPrefixed([purpose, commandId]))
      .digest();
};
