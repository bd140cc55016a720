import { ED25519_COSIGNATURE, formatSignerKey, type SignerKey } from "../../domain/evidence/signed-note.ts";
import type { Randomness } from "../../domain/ports/randomness.ts";
import { SEED_BYTES } from "../../infra/crypto/ed25519.ts";
import { createSecretFile } from "../../infra/crypto/keyfile.ts";
import { sha256 } from "../../infra/crypto/sha256.ts";
import { readSignerKey, signerKeyOf, vkeyOf } from "../keys/signer-key.ts";
import type { WitnessState } from "./state.ts";

export type WitnessKey = { readonly signer: SignerKey; readonly vkey: string };

export type KeyOptions = {
  readonly path: string;
  /** Null for the name that the key has, or a name made of the key. */
  readonly name: string | null;
  readonly state: WitnessState;
  readonly randomness: Randomness;
};

const DEFAULT_NAME = "countersign-witness";

const defaultName = (publicKey: Uint8Array): string =>
  `${DEFAULT_NAME}/${Buffer.from(sha256(publicKey)).toString("hex", 0, 4)}`;

/**
 * The key of the witness whose memory this is. A key without its memory would cosign a fork of what it cosigned before,
 * so it is refused. The memory names the key before the key is written: if the process dies between the two, the memory
 * is still empty, and another key is made.
 */
export const witnessKey = (options: KeyOptions): WitnessKey => {
  const { path, name, state, randomness } = options;
  const known = state.key();
  const there = readSignerKey(path, ({ type }) => type === ED25519_COSIGNATURE, "a witness' key");
  if (there === null) {
    if (state.origins().length > 0)
      throw new Error(`The key file ${path} is missing: restore it, or move the state away to begin as a new witness.`);
    const made = signerKeyOf(ED25519_COSIGNATURE, randomness.bytes(SEED_BYTES), (key) => name ?? defaultName(key));
    state.setKey(vkeyOf(made));
    createSecretFile(path, formatSignerKey(made), randomness);
    // Another process may have been faster: then its key is in the file, and is compared with the memory.
    return witnessKey(options);
  }
  const vkey = vkeyOf(there);
  if (known !== vkey)
    throw new Error(
      `The state is not that of the witness with the key file ${path}: restore it, or move the key away to begin as a new witness.`,
    );
  if (name !== null && name !== there.name)
    throw new Error(`The witness is named ${there.name}, and its name cannot change: leave --name out.`);
  return { signer: there, vkey };
};
