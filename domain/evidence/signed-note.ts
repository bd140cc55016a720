import { fromBase64, fromHex, joined, sameBytes, toBase64, toHex, utf8 } from "./bytes.ts";
import type { Sha256 } from "./merkle.ts";

/** C2SP signed-note v1.0.0. */

/** The signature types that are used here, as signed-note assigns them. */
export const ED25519 = 1;
export const ED25519_COSIGNATURE = 4;
export type SignatureType = typeof ED25519 | typeof ED25519_COSIGNATURE;

const PUBLIC_KEY_BYTES = 32;
const SEED_BYTES = 32;
export const ED25519_SIGNATURE_BYTES = 64;
const KEY_ID_BYTES = 4;
/** More than the 16 that a verifier has to accept, and far fewer than would take long. */
const SIGNATURES_MAX = 100;
const NOTE_BYTES_MAX = 1024 * 1024;

export type VerifierKey = {
  readonly name: string;
  readonly keyId: Uint8Array;
  readonly type: SignatureType;
  readonly publicKey: Uint8Array;
};

/** `seed` is the private key of Ed25519 in the form of RFC 8032. */
export type SignerKey = {
  readonly name: string;
  readonly keyId: Uint8Array;
  readonly type: SignatureType;
  readonly seed: Uint8Array;
};

/** `signature` has what follows the key id. */
export type NoteSignature = { readonly name: string; readonly keyId: Uint8Array; readonly signature: Uint8Array };

/** `text` ends with a newline, and is what is signed. */
export type SignedNote = { readonly text: string; readonly signatures: readonly NoteSignature[] };

const NAME = /^[^\p{White_Space}\p{Cc}+]+$/u;
const SIGNER_KEY_PREFIX = "PRIVATE+KEY+";
const NEWLINE = "\n";
const LINE_START = "— ";

export const isKeyName = (name: string): boolean => NAME.test(name);

const keyIdOf = (sha256: Sha256, name: string, type: SignatureType, publicKey: Uint8Array): Uint8Array =>
  sha256(joined(utf8(name + NEWLINE), Uint8Array.of(type), publicKey)).slice(0, KEY_ID_BYTES);

export const verifierKey = (sha256: Sha256, name: string, type: SignatureType, publicKey: Uint8Array): VerifierKey => ({
  name,
  keyId: keyIdOf(sha256, name, type, publicKey),
  type,
  publicKey,
});

const keyText = (name: string, keyId: Uint8Array, type: SignatureType, material: Uint8Array): string =>
  `${name}+${toHex(keyId)}+${toBase64(joined(Uint8Array.of(type), material))}`;

/** The key as text, which others call a vkey. */
export const formatVerifierKey = ({ name, keyId, type, publicKey }: VerifierKey): string =>
  keyText(name, keyId, type, publicKey);

const typeOf = (type: number | undefined): SignatureType | null =>
  type === ED25519 || type === ED25519_COSIGNATURE ? type : null;

const parseKeyText = (text: string) => {
  // Base64 may contain a plus, so only the first two divide.
  const [name, id, ...rest] = text.split("+");
  const keyId = fromHex(id ?? "");
  const encoded = fromBase64(rest.join("+"));
  const type = typeOf(encoded?.[0]);
  if (name === undefined || !isKeyName(name) || keyId?.length !== KEY_ID_BYTES) return null;
  return encoded === null || type === null ? null : { name, keyId, type, material: encoded.slice(1) };
};

/** Null if the text is not a key of a type that is used here, or its id is not that of its public key. */
export const parseVerifierKey = (sha256: Sha256, text: string): VerifierKey | null => {
  const parsed = parseKeyText(text);
  if (parsed === null || parsed.material.length !== PUBLIC_KEY_BYTES) return null;
  const key = verifierKey(sha256, parsed.name, parsed.type, parsed.material);
  return sameBytes(key.keyId, parsed.keyId) ? key : null;
};

export const formatSignerKey = ({ name, keyId, type, seed }: SignerKey): string =>
  SIGNER_KEY_PREFIX + keyText(name, keyId, type, seed);

/** Null if the text is not a signer key. Whoever has derived the public key compares its id with `keyId`. */
export const parseSignerKey = (text: string): SignerKey | null => {
  if (!text.startsWith(SIGNER_KEY_PREFIX)) return null;
  const parsed = parseKeyText(text.slice(SIGNER_KEY_PREFIX.length));
  if (parsed === null || parsed.material.length !== SEED_BYTES) return null;
  const { name, keyId, type, material } = parsed;
  return { name, keyId, type, seed: material };
};

export const formatSignatureLine = ({ name, keyId, signature }: NoteSignature): string =>
  `${LINE_START}${name} ${toBase64(joined(keyId, signature))}${NEWLINE}`;

export const formatNote = ({ text, signatures }: SignedNote): string =>
  text + NEWLINE + signatures.map(formatSignatureLine).join("");

/** Null if the line, which ends without a newline, is not a signature line. */
export const parseSignatureLine = (line: string): NoteSignature | null => {
  if (!line.startsWith(LINE_START)) return null;
  const [name, encoded, ...more] = line.slice(LINE_START.length).split(" ");
  const bytes = fromBase64(encoded ?? "");
  if (name === undefined || !isKeyName(name) || more.length > 0) return null;
  if (bytes === null || bytes.length <= KEY_ID_BYTES) return null;
  return { name, keyId: bytes.slice(0, KEY_ID_BYTES), signature: bytes.slice(KEY_ID_BYTES) };
};

const isControl = (code: number): boolean => code < 0x20 && code !== 0x0a;

const hasControl = (text: string): boolean => {
  for (let i = 0; i < text.length; i += 1) if (isControl(text.charCodeAt(i))) return true;
  return false;
};

/** Null if the text is not a signed note. That no signature was verified yet, the type does not say: see `verifiedBy`. */
export const parseNote = (whole: string): SignedNote | null => {
  if (whole.length > NOTE_BYTES_MAX || /\p{Surrogate}/u.test(whole) || hasControl(whole)) return null;
  const blank = whole.lastIndexOf(NEWLINE + NEWLINE);
  if (blank === -1 || !whole.endsWith(NEWLINE)) return null;
  const lines = whole.slice(blank + 2, -1).split(NEWLINE);
  if (lines.length > SIGNATURES_MAX) return null;
  const signatures: NoteSignature[] = [];
  for (const line of lines) {
    const signature = parseSignatureLine(line);
    if (signature === null) return null;
    signatures.push(signature);
  }
  return { text: whole.slice(0, blank + 1), signatures };
};

const isBy =
  ({ name, keyId }: Pick<VerifierKey, "name" | "keyId">) =>
  (signature: NoteSignature): boolean =>
    signature.name === name && sameBytes(signature.keyId, keyId);

/** The signatures of a note that claim to be by this key. */
export const signaturesBy = (
  { signatures }: SignedNote,
  key: Pick<VerifierKey, "name" | "keyId">,
): readonly NoteSignature[] => signatures.filter(isBy(key));

/** Ed25519 as RFC 8032 has it; a browser answers only with a promise. */
export type VerifyEd25519 = (
  publicKey: Uint8Array,
  message: Uint8Array,
  signature: Uint8Array,
) => boolean | Promise<boolean>;

export type SignEd25519 = (seed: Uint8Array, message: Uint8Array) => Uint8Array;

/** `absent`: no signature of the note claims to be by the key. One that claims it and does not verify spoils the note. */
export type KeyVerdict = "verified" | "absent" | "wrong";

export const verifiedBy = async (verify: VerifyEd25519, note: SignedNote, key: VerifierKey): Promise<KeyVerdict> => {
  if (key.type !== ED25519) return "absent";
  const claimed = signaturesBy(note, key);
  for (const { signature } of claimed) if (!(await verify(key.publicKey, utf8(note.text), signature))) return "wrong";
  return claimed.length === 0 ? "absent" : "verified";
};

export const signatureOf = (sign: SignEd25519, text: string, { name, keyId, seed }: SignerKey): NoteSignature => ({
  name,
  keyId,
  signature: sign(seed, utf8(text)),
});
