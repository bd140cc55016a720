import { textOf } from "../../domain/evidence/bytes.ts";
import {
  formatNote,
  parseNote,
  parseVerifierKey,
  type SignedNote,
  type SignerKey,
  signatureOf,
  type VerifierKey,
  verifiedBy,
} from "../../domain/evidence/signed-note.ts";
import { ed25519Signer, ed25519Verify } from "../../infra/crypto/ed25519.ts";
import { sha256 } from "../../infra/crypto/sha256.ts";
import type { Period } from "./query/filter.ts";

export type ListedFile = {
  readonly name: string;
  readonly size: number;
  /** Hex. */
  readonly sha256: string;
  /** The controls whose claims use the file. */
  readonly controls: readonly string[];
};

export type Manifest = {
  readonly account: string;
  readonly period: Period;
  readonly madeAt: string;
  /** The version of the program that made the pack. */
  readonly madeBy: string;
  /** The key that signed the manifest, as text. It vouches for whoever holds it, and for nothing in the files. */
  readonly signer: string;
  readonly files: readonly ListedFile[];
};

const FIRST_LINE = "countersign evidence pack 1";
export const MANIFEST_BYTES_MAX = 256 * 1_024;

const NAME = /^[a-z][a-z0-9.-]{0,63}$/;
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;
const NO_CONTROLS = "-";

const manifestText = ({ account, period, madeAt, madeBy, signer, files }: Manifest): string =>
  [
    FIRST_LINE,
    `account ${account}`,
    `period ${period.from} ${period.to}`,
    `made ${madeAt} ${madeBy}`,
    `signer ${signer}`,
    ...files.map(({ name, size, sha256: hex, controls }) =>
      ["file", hex, size, name, controls.length === 0 ? NO_CONTROLS : controls.join(",")].join(" "),
    ),
    "",
  ].join("\n");

const fileIn = (line: string): ListedFile | null => {
  const [word, hex = "", sizeText = "", name = "", controls = "", ...more] = line.split(" ");
  const isWell = word === "file" && /^[0-9a-f]{64}$/.test(hex) && /^\d{1,15}$/.test(sizeText) && NAME.test(name);
  if (!isWell || controls === "" || more.length > 0) return null;
  return { name, size: Number(sizeText), sha256: hex, controls: controls === NO_CONTROLS ? [] : controls.split(",") };
};

/** Null unless the text is exactly what `manifestText` writes. */
const manifestIn = (text: string): Manifest | null => {
  const [first, accountLine = "", periodLine = "", madeLine = "", signerLine = "", ...fileLines] = text.split("\n");
  if (first !== FIRST_LINE || fileLines.pop() !== "") return null;
  const [, from = "", to = ""] = periodLine.split(" ");
  const [, account = ""] = accountLine.split(" ");
  const [, madeAt = "", madeBy = ""] = madeLine.split(" ");
  const [, signer = ""] = signerLine.split(" ");
  const files = fileLines.map(fileIn).flatMap((it) => it ?? []);
  const manifest = { account, period: { from, to }, madeAt, madeBy, signer, files };
  const isWell = [from, to, madeAt].every((it) => TIME.test(it)) && manifestText(manifest) === text;
  return isWell && new Set(files.map(({ name }) => name)).size === files.length ? manifest : null;
};

export const signedManifest = (manifest: Manifest, key: SignerKey): string => {
  const text = manifestText(manifest);
  const sign = (seed: Uint8Array, message: Uint8Array) => ed25519Signer(seed).sign(message);
  return formatNote({ text, signatures: [signatureOf(sign, text, key)] });
};

export type ReadManifest =
  | { readonly ok: false; readonly why: string }
  /** `isVouchedFor`: the signature is by the key that was given from outside. */
  | { readonly ok: true; readonly manifest: Manifest; readonly isVouchedFor: boolean };

const no = (why: string): ReadManifest => ({ ok: false, why });

const isSignedBy = async (note: SignedNote, key: VerifierKey): Promise<boolean> =>
  (await verifiedBy(ed25519Verify, note, key)) === "verified";

/** `expected`: the key of whoever made the pack, if the caller knows it. */
export const readManifest = async (bytes: Uint8Array, expected: VerifierKey | null): Promise<ReadManifest> => {
  const note = bytes.length > MANIFEST_BYTES_MAX ? null : parseNote(textOf(bytes) ?? "");
  if (note === null) return no("it is not a signed note");
  const manifest = manifestIn(note.text);
  if (manifest === null) return no("it is not the manifest of an evidence pack of version 1");
  const own = parseVerifierKey(sha256, manifest.signer);
  if (own === null || !(await isSignedBy(note, own))) return no("its signature is not by the key that it names");
  if (expected === null) return { ok: true, manifest, isVouchedFor: false };
  if (!(await isSignedBy(note, expected))) return no("it is not signed by the key that you gave (--pack-key)");
  return { ok: true, manifest, isVouchedFor: true };
};
