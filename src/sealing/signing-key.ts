import { rmSync } from "node:fs";
import { join } from "node:path";
import { signingKeyName } from "../../domain/evidence/checkpoint.ts";
import { ED25519, formatSignerKey, type SignerKey } from "../../domain/evidence/signed-note.ts";
import type { Randomness } from "../../domain/ports/randomness.ts";
import type { Signer } from "../../domain/ports/signer.ts";
import { ed25519Signer, SEED_BYTES } from "../../infra/crypto/ed25519.ts";
import { createSecretFile, KeyUnusable, replaceSecretFile } from "../../infra/crypto/keyfile.ts";
import { readSignerKey, signerKeyOf, vkeyOf } from "../keys/signer-key.ts";

/** `mayCreate` is false for a file that the operator has named: it is the same for every node. */
export type SigningKeyPlace = { readonly path: string; readonly mayCreate: boolean };

export const signingKeyPlaceOf = (place: {
  readonly auditKeyFile: string | null;
  readonly dataDir: string;
}): SigningKeyPlace => ({
  path: place.auditKeyFile ?? join(place.dataDir, "audit-key"),
  mayCreate: place.auditKeyFile === null,
});

/** A rotation writes its key here before the log names it. */
const nextPathOf = ({ path }: SigningKeyPlace): string => `${path}.new`;

export const makeSigningKey = (host: string, randomness: Randomness): SignerKey =>
  signerKeyOf(ED25519, randomness.bytes(SEED_BYTES), () => signingKeyName(host));

const signerOf = (key: SignerKey): Signer => {
  const { sign } = ed25519Signer(key.seed);
  return { vkey: vkeyOf(key), sign: async (message) => sign(message) };
};

const readKey = (path: string): SignerKey | null =>
  readSignerKey(
    path,
    ({ name, type }) => type === ED25519 && name.endsWith("/instance"),
    'a signing key: make one with "countersign audit make-key"',
  );

/** The node's key, which is read once, and again when the log names another: a rotation may have replaced the file. */
export const heldSigner = (
  place: SigningKeyPlace,
  host: () => string,
  randomness: Randomness,
): ((vkey: string | null) => Signer) => {
  let held: Signer | null = null;
  return (vkey) => {
    // A log that names a key is never signed with a new one.
    held ??= signerOf(vkey === null ? openSigningKey(place, host(), randomness) : presentSigningKey(place));
    if (vkey !== null && held.vkey !== vkey) {
      const named = signingKeyNamed(place, vkey, randomness);
      if (named !== null) held = signerOf(named);
    }
    return held;
  };
};

/** The key that is there, made for this host if there is none and it may be created. */
const openSigningKey = (place: SigningKeyPlace, host: string, randomness: Randomness): SignerKey => {
  const there = readKey(place.path);
  if (there !== null) return there;
  if (!place.mayCreate)
    throw new KeyUnusable(`There is no signing key in ${place.path}: make one with "countersign audit make-key".`);
  createSecretFile(place.path, formatSignerKey(makeSigningKey(host, randomness)), randomness);
  return openSigningKey({ ...place, mayCreate: false }, host, randomness);
};

export const presentSigningKey = (place: SigningKeyPlace): SignerKey => {
  const key = readKey(place.path);
  if (key === null) throw new KeyUnusable(`There is no signing key in ${place.path}.`);
  return key;
};

/** The key that an interrupted rotation has left; null if there is none. */
const nextSigningKey = (place: SigningKeyPlace): SignerKey | null => readKey(nextPathOf(place));

export const keepNextSigningKey = (place: SigningKeyPlace, key: SignerKey, randomness: Randomness): void => {
  // A key that named nothing may be in a backup of the files, so it is replaced.
  rmSync(nextPathOf(place), { force: true });
  createSecretFile(nextPathOf(place), formatSignerKey(key), randomness);
};

export const putSigningKeyInPlace = (place: SigningKeyPlace, key: SignerKey, randomness: Randomness): void =>
  replaceSecretFile(place.path, nextPathOf(place), formatSignerKey(key), randomness);

/** Null if neither the file nor what a rotation left beside it has this key. A rotation that a crash cut off is completed. */
export const signingKeyNamed = (place: SigningKeyPlace, vkey: string, randomness: Randomness): SignerKey | null => {
  const there = presentSigningKey(place);
  if (vkeyOf(there) === vkey) return there;
  const next = nextSigningKey(place);
  if (next === null || vkeyOf(next) !== vkey) return null;
  putSigningKeyInPlace(place, next, randomness);
  return next;
};
