import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import {
  ED25519_COSIGNATURE,
  formatSignerKey,
  formatVerifierKey,
  parseSignerKey,
  type SignerKey,
  verifierKey,
} from "../../domain/evidence/signed-note.ts";
import type { Randomness } from "../../domain/ports/randomness.ts";
import { ed25519Signer, SEED_BYTES } from "../../infra/crypto/ed25519.ts";
import { sha256 } from "../../infra/crypto/sha256.ts";
import type { WitnessState } from "./state.ts";

export type WitnessKey = { readonly signer: SignerKey; readonly vkey: string };

export type KeyOptions = {
  readonly path: string;
  /** Null for the name that the key has, or a name made of the key. */
  readonly name: string | null;
  readonly state: WitnessState;
  readonly randomness: Randomness;
};

const MODE = 0o600;
const DEFAULT_NAME = "countersign-witness";

const isAbsent = (error: unknown): boolean => error instanceof Error && "code" in error && error.code === "ENOENT";

const readKey = (path: string): SignerKey | null => {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY);
  } catch (error) {
    if (isAbsent(error)) return null;
    throw error;
  }
  try {
    // Windows has no file modes: Node reports every file there as readable by all.
    if (process.platform !== "win32" && (fstatSync(file).mode & 0o077) !== 0)
      throw new Error(`Others can read the key file ${path}: run "chmod 600 ${path}".`);
    const key = parseSignerKey(readFileSync(file, "utf8").trimEnd());
    if (key?.type === ED25519_COSIGNATURE) return key;
    throw new Error(`The key file ${path} does not contain a witness' key.`);
  } finally {
    closeSync(file);
  }
};

/** The key is written to a draft and synced before it is linked to `path`, so that it appears complete. */
const writeKey = (path: string, key: SignerKey): void => {
  const draft = `${path}.new`;
  const file = openSync(draft, "w", MODE);
  writeSync(file, `${formatSignerKey(key)}\n`);
  fsyncSync(file);
  closeSync(file);
  linkSync(draft, path);
  unlinkSync(draft);
  if (process.platform === "win32") return;
  const folder = openSync(dirname(path), constants.O_RDONLY);
  fsyncSync(folder);
  closeSync(folder);
};

const madeKey = (name: string | null, seed: Uint8Array): SignerKey => {
  const { publicKey } = ed25519Signer(seed);
  const id = Buffer.from(sha256(publicKey)).toString("hex", 0, 4);
  const { keyId, ...key } = verifierKey(sha256, name ?? `${DEFAULT_NAME}/${id}`, ED25519_COSIGNATURE, publicKey);
  return { name: key.name, keyId, type: key.type, seed };
};

const vkeyOf = ({ name, seed }: SignerKey): string =>
  formatVerifierKey(verifierKey(sha256, name, ED25519_COSIGNATURE, ed25519Signer(seed).publicKey));

/**
 * The key of the witness whose memory this is. A key without its memory would cosign a fork of what it cosigned before,
 * so it is refused. The memory names the key before the key is written: if the process dies between the two, the memory
 * is still empty, and another key is made.
 */
export const witnessKey = ({ path, name, state, randomness }: KeyOptions): WitnessKey => {
  const known = state.key();
  const there = readKey(path);
  if (there === null) {
    if (state.origins().length > 0)
      throw new Error(`The key file ${path} is missing: restore it, or move the state away to begin as a new witness.`);
    const made = madeKey(name, randomness.bytes(SEED_BYTES));
    state.setKey(vkeyOf(made));
    writeKey(path, made);
    return { signer: made, vkey: vkeyOf(made) };
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
