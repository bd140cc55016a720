import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from "node:crypto";

export const SEED_BYTES = 32;

/** RFC 8410, sections 4 and 7: what precedes the 32 bytes in DER. */
const PUBLIC_PREFIX = Buffer.from("302a300506032b6570032100", "hex");
const PRIVATE_PREFIX = Buffer.from("302e020100300506032b657004220420", "hex");

const privateKey = (seed: Uint8Array): KeyObject =>
  createPrivateKey({ key: Buffer.concat([PRIVATE_PREFIX, seed]), format: "der", type: "pkcs8" });

export type Ed25519Signer = {
  readonly publicKey: Uint8Array;
  sign(message: Uint8Array): Uint8Array;
};

export const ed25519Signer = (seed: Uint8Array): Ed25519Signer => {
  const key = privateKey(seed);
  const der = createPublicKey(key).export({ format: "der", type: "spki" });
  return {
    publicKey: new Uint8Array(der.subarray(PUBLIC_PREFIX.length)),
    sign: (message) => new Uint8Array(sign(null, message, key)),
  };
};

/** False as well if the bytes are no public key. */
export const ed25519Verify = (publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean => {
  try {
    const key = createPublicKey({ key: Buffer.concat([PUBLIC_PREFIX, publicKey]), format: "der", type: "spki" });
    return verify(null, message, key, signature);
  } catch {
    return false;
  }
};
