import {
  formatVerifierKey,
  parseSignerKey,
  type SignatureType,
  type SignerKey,
  type VerifierKey,
  verifierKey,
} from "../../domain/evidence/signed-note.ts";
import { ed25519Signer } from "../../infra/crypto/ed25519.ts";
import { KeyUnusable, readSecretFile } from "../../infra/crypto/keyfile.ts";
import { sha256 } from "../../infra/crypto/sha256.ts";

const publicPart = ({ name, type, seed }: Pick<SignerKey, "name" | "type" | "seed">): VerifierKey =>
  verifierKey(sha256, name, type, ed25519Signer(seed).publicKey);

export const vkeyOf = (key: SignerKey): string => formatVerifierKey(publicPart(key));

/** `name` is given the public key, because a default name may contain its digest. */
export const signerKeyOf = (
  type: SignatureType,
  seed: Uint8Array,
  name: (publicKey: Uint8Array) => string,
): SignerKey => {
  const named = { name: name(ed25519Signer(seed).publicKey), type, seed };
  return { ...named, keyId: publicPart(named).keyId };
};

/** Null if there is no file. What `isOurs` does not accept is refused with KeyUnusable, and so is a key with a wrong bit. */
export const readSignerKey = (
  path: string,
  isOurs: (key: SignerKey) => boolean,
  expected: string,
): SignerKey | null => {
  const text = readSecretFile(path);
  if (text === null) return null;
  const key = parseSignerKey(text);
  if (key === null || !isOurs(key)) throw new KeyUnusable(`The key file ${path} does not contain ${expected}.`);
  if (Buffer.compare(publicPart(key).keyId, key.keyId) !== 0)
    throw new KeyUnusable(`The key in the file ${path} is damaged: restore it from its backup.`);
  return key;
};
