import { sameBytes, toHex, utf8 } from "../../domain/evidence/bytes.ts";
import {
  type Checkpoint,
  instanceOrigin,
  parseCheckpoint,
  parseOrigin,
  signingKeyName,
} from "../../domain/evidence/checkpoint.ts";
import { cosignedBy } from "../../domain/evidence/cosignature.ts";
import type { CosignedLine, HandoverLine } from "../../domain/evidence/export-lines.ts";
import { leafHash, verifyInclusion } from "../../domain/evidence/merkle.ts";
import {
  ED25519,
  ED25519_COSIGNATURE,
  ED25519_SIGNATURE_BYTES,
  type NoteSignature,
  parseNote,
  parseVerifierKey,
  type SignedNote,
  signaturesBy,
  type VerifierKey,
  verifiedBy,
} from "../../domain/evidence/signed-note.ts";
import { parseSigningKeyLeaf, type SigningKeyLeaf } from "../../domain/evidence/signing-key.ts";
import { parseTlogProof } from "../../domain/evidence/tlog-proof.ts";
import type { Platform } from "./platform.ts";
import type { SignedHead, WitnessTime } from "./report.ts";

/** Keys that someone outside of the file vouches for, as signed-note has them. */
export type OutsideKeys = { readonly keys: readonly string[]; readonly witnesses: readonly string[] };

/** Keys of the log and of witnesses. `isOutside` is false if the file itself names the only key. */
export type Keys = {
  /** The key that signs now: the only one that may have signed the newest checkpoint. */
  readonly current: readonly VerifierKey[];
  /** Those that signed before, too. */
  readonly ever: readonly VerifierKey[];
  readonly witnesses: readonly VerifierKey[];
  readonly isOutside: boolean;
};

/** Who cosigned, and when. Two keys may have one name, so `key` has the key id, too. */
export type Cosigner = { readonly name: string; readonly key: string; readonly time: number };

/** A tree at a size, at a time if a witness said so. */
export type KnownHead = {
  readonly size: number;
  readonly root: Uint8Array;
  readonly witness: Cosigner | null;
  /** What it is called where it contradicts the records. */
  readonly what: string;
  /** True if the log was reopened since, after a restore: then records that it had may have been lost. */
  readonly isBefore?: boolean;
};

export type SignedCheckpoint = {
  readonly note: SignedNote;
  readonly checkpoint: Checkpoint;
  readonly key: VerifierKey;
};

/** The keys of the texts; a text that is not a key of the type is answered as it is. */
export const parseKeys = (
  { sha256 }: Platform,
  { keys, witnesses }: OutsideKeys,
): { readonly log: readonly VerifierKey[]; readonly witnesses: readonly VerifierKey[] } | string => {
  const [log, other]: [VerifierKey[], VerifierKey[]] = [[], []];
  for (const text of keys) {
    const key = parseVerifierKey(sha256, text);
    if (key?.type !== ED25519) return `no verifier key of a log: ${text}`;
    log.push(key);
  }
  for (const text of witnesses) {
    const key = parseVerifierKey(sha256, text);
    if (key?.type !== ED25519_COSIGNATURE) return `no verifier key of a witness: ${text}`;
    other.push(key);
  }
  return { log, witnesses: other };
};

const keyText = ({ name, keyId }: Pick<VerifierKey, "name" | "keyId">): string => `${name}+${toHex(keyId)}`;

/**
 * True if only the last two bits of the key id are others: base64 writes them with the first of the signature, so one changed
 * character changes both. Another key of the same name has such an id once in a thousand million.
 */
const hasNearlyId = (signature: NoteSignature, { name, keyId }: VerifierKey): boolean =>
  signature.name === name &&
  signature.keyId.every((byte, i) => (i < 3 ? byte === keyId[i] : byte >> 2 === (keyId[i] ?? 0) >> 2));

/**
 * A signature that one of these keys has made, under a name or key id that is not the key's. Readers leave unknown signatures
 * aside, so without this look the bytes of a name could be changed without being found. Null if there is none.
 */
const mislabelled = async (
  note: SignedNote,
  keys: readonly VerifierKey[],
  isMadeBy: (note: SignedNote, key: VerifierKey) => Promise<boolean>,
): Promise<string | null> => {
  const known = new Set(keys.flatMap((key) => signaturesBy(note, key)));
  for (const other of note.signatures.filter((it) => !known.has(it)))
    for (const key of keys) {
      const { name, keyId } = key;
      const renamed = { ...other, name, keyId };
      if (hasNearlyId(other, key) || (await isMadeBy({ text: note.text, signatures: [renamed] }, key)))
        return `the signature by ${keyText(key)} has another name or key id`;
    }
  return null;
};

/** The first of the keys that signed the note; null if none did, a text if a signature that one of them made is wrong or renamed. */
const signerOf = async (
  { verifyEd25519 }: Platform,
  note: SignedNote,
  keys: readonly VerifierKey[],
): Promise<VerifierKey | null | string> => {
  let signer: VerifierKey | null = null;
  for (const key of keys) {
    const verdict = await verifiedBy(verifyEd25519, note, key);
    if (verdict === "wrong") return `the signature by ${keyText(key)} is wrong`;
    if (verdict === "verified") signer ??= key;
  }
  const isMadeBy = async (own: SignedNote, key: VerifierKey): Promise<boolean> =>
    own.signatures[0]?.signature.length === ED25519_SIGNATURE_BYTES &&
    (await verifiedBy(verifyEd25519, own, key)) === "verified";
  return (await mislabelled(note, keys, isMadeBy)) ?? signer;
};

/** Why it is no checkpoint that one of the keys signed. `unknown`: keys of that name and id are not among them. */
export type NotSigned = { readonly reason: string } | { readonly unknown: string };

const signersIn = (signers: readonly NoteSignature[]): string => signers.map(keyText).join(" and ");

/**
 * A restore may have lost a rotation of the generation before, and then no handover leads to the key in force. Null in the
 * first generation, whose files prove all rotations.
 */
export const signedAfterReopening = (text: string): string | null => {
  const note = parseNote(text);
  const origin = parseOrigin(parseCheckpoint(note?.text ?? "")?.origin ?? "");
  if (note === null || origin === null || origin.generation === 1) return null;
  const signers = note.signatures.filter(({ name }) => name === signingKeyName(origin.host));
  return `a check of the file: it is signed by a key that was not given, which may have been rotated before the log was reopened: give both keys (it names ${signersIn(signers)}; a stranger may have signed it as well)`;
};

const unknownSigner = (signers: readonly NoteSignature[]): string =>
  `it is signed by ${signersIn(signers)}, and no such key was given. Either it is the key before or after a rotation: give both keys, or check an export, which has the handover; or a stranger signed it`;

/** A checkpoint of one of Countersign's trees, signed by one of the keys; else why not. */
export const readSigned = async (
  platform: Platform,
  text: string,
  keys: readonly VerifierKey[],
): Promise<SignedCheckpoint | NotSigned> => {
  const note = parseNote(text);
  const checkpoint = note === null ? null : parseCheckpoint(note.text);
  if (note === null || checkpoint === null) return { reason: "it is no signed checkpoint" };
  const origin = parseOrigin(checkpoint.origin);
  if (origin === null || checkpoint.extensions.length > 0) return { reason: "it is no checkpoint of Countersign" };
  const keyName = signingKeyName(origin.host);
  const named = keys.filter(({ name }) => name === keyName);
  const key = await signerOf(platform, note, named);
  if (typeof key === "string") return { reason: key };
  if (key !== null) return { note, checkpoint, key };
  const signers = note.signatures.filter(({ name }) => name === keyName);
  return signers.length === 0
    ? { reason: `no key of ${checkpoint.origin} signed it` }
    : { unknown: unknownSigner(signers) };
};

export const headOf = ({ checkpoint: { origin, size, root } }: SignedCheckpoint): SignedHead => ({
  origin,
  size,
  root: toHex(root),
});

const isSameKey = (a: VerifierKey, b: VerifierKey): boolean =>
  a.name === b.name && a.type === b.type && sameBytes(a.publicKey, b.publicKey);

/** That the log was reopened after a restore: its last checkpoint before, and why, as the operator has stated both. */
export type Reopened = { readonly origin: string; readonly size: number; readonly reason: string | null };

type Followed = { readonly keys: Keys; readonly reopened: Reopened | null };

const reopenedBy = ({ previous, reason }: SigningKeyLeaf): Reopened | null => {
  const last = previous === null ? null : parseCheckpoint(previous);
  return last === null ? null : { origin: last.origin, size: last.size, reason };
};

/** The keys after a rotation, or at the beginning of a generation; a text if the handover proves nothing. */
const afterHandover = async (platform: Platform, line: HandoverLine, keys: Keys): Promise<Followed | string> => {
  const { sha256, verifyEd25519, fromBase64 } = platform;
  const bytes = fromBase64(line.leaf);
  const leaf = bytes === null ? null : parseSigningKeyLeaf(bytes);
  const next = leaf === null ? null : parseVerifierKey(sha256, leaf.vkey);
  const proof = parseTlogProof(line.proof);
  if (bytes === null || next === null || proof === null || proof.extra !== null) return "it is malformed";
  const signed = await readSigned(platform, proof.checkpoint, [next]);
  if ("unknown" in signed) return "its checkpoint is not signed by the new key";
  if ("reason" in signed) return `its checkpoint: ${signed.reason}`;
  const { size, root, origin } = signed.checkpoint;
  if (parseOrigin(origin)?.account !== null) return "its checkpoint is not one of the instance";
  const { index, path } = proof;
  if (index !== size - 1) return "its checkpoint does not end with the new key";
  if (!verifyInclusion(sha256, { index, size, leafHash: leafHash(sha256, bytes), path }, root))
    return "its checkpoint does not have the new key";
  const reopened = index === 0 && leaf !== null ? reopenedBy(leaf) : null;
  if (keys.current.some((key) => isSameKey(key, next))) return { keys: { ...keys, current: [next] }, reopened };
  for (const key of keys.current) {
    if (key.name !== next.name) continue;
    const verdict = await verifiedBy(verifyEd25519, signed.note, key);
    if (verdict === "wrong") return "the signature by the key before is wrong";
    if (verdict === "verified") return { keys: { ...keys, current: [next], ever: [...keys.ever, next] }, reopened };
  }
  return "the key before did not sign it";
};

/** Follows the rotations that the file proves. Those before the first key that is known are no proof of anything. */
export const followHandovers = async (
  platform: Platform,
  lines: readonly HandoverLine[],
  start: Keys,
): Promise<(Followed & { readonly notes: readonly string[] }) | string> => {
  let keys = start;
  let reopened: Reopened | null = null;
  let hasBegun = false;
  const notes: string[] = [];
  for (const line of lines) {
    const next = await afterHandover(platform, line, keys);
    if (typeof next !== "string") {
      [keys, hasBegun] = [next.keys, true];
      reopened ??= next.reopened;
    } else if (!hasBegun && next === "the key before did not sign it")
      notes.push("a rotation to a key that is not known was left aside");
    else return `a handover of the signing key: ${next}`;
  }
  return { keys, reopened, notes };
};

/** Who of the witnesses cosigned the note, and when; a text if a cosignature is wrong or renamed. */
export const witnessesOf = async (
  { verifyEd25519 }: Platform,
  note: SignedNote,
  witnesses: readonly VerifierKey[],
): Promise<readonly Cosigner[] | string> => {
  const found: Cosigner[] = [];
  for (const witness of witnesses) {
    const cosigned = await cosignedBy(verifyEd25519, note, witness);
    if (cosigned === "wrong") return `the cosignature by ${witness.name} is wrong`;
    if (cosigned !== "absent") found.push({ name: witness.name, key: keyText(witness), time: cosigned.time });
  }
  const isMadeBy = async (own: SignedNote, key: VerifierKey): Promise<boolean> =>
    typeof (await cosignedBy(verifyEd25519, own, key)) === "object";
  return (await mislabelled(note, witnesses, isMadeBy)) ?? found;
};

/** What a cosigned line proves about its account; a text if it proves something else. */
export const readCosigned = async (
  platform: Platform,
  { text, proof: proofText }: Pick<CosignedLine, "text" | "proof">,
  { ever, witnesses }: Keys,
): Promise<{ readonly checkpoint: Checkpoint; readonly heads: readonly KnownHead[] } | string> => {
  const { sha256 } = platform;
  const checkpoint = parseCheckpoint(text);
  const proof = parseTlogProof(proofText);
  const note = proof === null ? null : parseNote(proof.checkpoint);
  const instance = note === null ? null : parseCheckpoint(note.text);
  if (checkpoint === null || proof === null || proof.extra !== null || note === null || instance === null)
    return "it is malformed";
  const log = parseOrigin(checkpoint.origin);
  // A witness cosigns other logs, too, and whoever has one of them can put any text into it.
  if (log === null || instance.origin !== instanceOrigin(log))
    return `its proof is not one in the tree of the instance of ${checkpoint.origin}`;
  const inclusion = {
    index: proof.index,
    size: instance.size,
    leafHash: leafHash(sha256, utf8(text)),
    path: proof.path,
  };
  if (!verifyInclusion(sha256, inclusion, instance.root)) return "its proof does not lead to its checkpoint";
  const signer = await signerOf(platform, note, ever);
  if (typeof signer === "string") return signer;
  const cosigners = await witnessesOf(platform, note, witnesses);
  if (typeof cosigners === "string") return cosigners;
  const what = "a checkpoint that the instance's tree has";
  const { size, root } = checkpoint;
  const heads: readonly KnownHead[] = cosigners.map((witness) => ({
    ...{ size, root, witness },
    what: `a checkpoint that ${witness.name} cosigned`,
  }));
  if (heads.length > 0) return { checkpoint, heads };
  return { checkpoint, heads: signer === null ? [] : [{ size, root, witness: null, what }] };
};

const isoOf = (seconds: number): string => new Date(seconds * 1_000).toISOString();

/** For each witness the largest tree that it cosigned. */
export const witnessTimes = (heads: readonly KnownHead[]): readonly WitnessTime[] => {
  const times = new Map<string, WitnessTime>();
  for (const { size, witness } of heads) {
    if (witness === null) continue;
    const { name, key, time } = witness;
    const best = times.get(key);
    if (best === undefined || best.size <= size) times.set(key, { witness: name, time: isoOf(time), size });
  }
  return [...times.values()];
};

/** The witnesses that were named and cosigned nothing. */
export const absentWitnesses = ({ witnesses }: Keys, heads: readonly KnownHead[]): readonly string[] =>
  witnesses
    .map(keyText)
    .filter((key) => !heads.some(({ witness }) => witness?.key === key))
    .map((key) => `a checkpoint that ${key} cosigned`);
