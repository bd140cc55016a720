import { hkdfSync } from "node:crypto";

export const KEY_BYTES = 32;

/** HKDF-SHA-256 (RFC 5869) derives one key for each purpose. */
export const subkey = (key: Uint8Array, purpose: string): Uint8Array => {
  if (key.length !== KEY_BYTES) throw new Error(`a key has ${key.length} bytes and must have ${KEY_BYTES}`);
  return new Uint8Array(hkdfSync("sha256", key, new Uint8Array(0), `countersign/${purpose}`, KEY_BYTES));
};
