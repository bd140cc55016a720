import { formatAddCheckpoint } from "../../domain/evidence/add-checkpoint.ts";
import { utf8 } from "../../domain/evidence/bytes.ts";
import { checkpointText } from "../../domain/evidence/checkpoint.ts";
import {
  append,
  consistencyPath,
  EMPTY_FRONTIER,
  leafHash,
  pathHashes,
  rootOf,
  type Subtree,
} from "../../domain/evidence/merkle.ts";
import {
  ED25519,
  formatNote,
  formatVerifierKey,
  type SignerKey,
  signatureOf,
  verifierKey,
} from "../../domain/evidence/signed-note.ts";
import { ed25519Signer } from "../../infra/crypto/ed25519.ts";
import { sha256 } from "../../infra/crypto/sha256.ts";

export const logKey = (name: string, seed: number) => {
  const bytes = new Uint8Array(32).fill(seed);
  const key = verifierKey(sha256, name, ED25519, ed25519Signer(bytes).publicKey);
  const signer: SignerKey = { ...{ name, keyId: key.keyId, type: ED25519 }, seed: bytes };
  return { key, signer, vkey: formatVerifierKey(key) };
};

const nameOf = ({ level, index }: Subtree): string => `${level}/${index}`;

/** A log's tree in memory, with whose key its checkpoints are signed. Two of one seed have the same leaves. */
export const signedTree = (origin: string, signer: SignerKey, leaves = (index: number): string => `leaf ${index}`) => {
  const hashes = new Map<string, Uint8Array>();
  let frontier = EMPTY_FRONTIER;
  const roots = [rootOf(sha256, frontier)];
  const growTo = (size: number): void => {
    while (frontier.size < size) {
      const hash = leafHash(sha256, utf8(leaves(frontier.size)));
      frontier = append(sha256, frontier, hash, (subtree, node) => hashes.set(nameOf(subtree), node));
      roots.push(rootOf(sha256, frontier));
    }
  };
  const rootAt = (size: number): Uint8Array => {
    growTo(size);
    return roots[size] ?? new Uint8Array();
  };
  const checkpoint = (size: number): string => {
    const text = checkpointText(origin, { size, root: rootAt(size) });
    const sign = (seed: Uint8Array, message: Uint8Array): Uint8Array => ed25519Signer(seed).sign(message);
    return formatNote({ text, signatures: [signatureOf(sign, text, signer)] });
  };
  const proof = (from: number, to: number): readonly Uint8Array[] => {
    growTo(to);
    return pathHashes(sha256, consistencyPath(from, to), (it) => hashes.get(nameOf(it)) ?? new Uint8Array());
  };
  return {
    origin,
    rootAt,
    checkpoint,
    proof,
    /** The body of add-checkpoint. */
    call: (from: number, to: number): string =>
      formatAddCheckpoint({ oldSize: from, proof: proof(from, to), note: checkpoint(to) }),
  };
};
