import { createWriteStream } from "node:fs";
import { mkdir, readdir, rmdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { formatVerifierKey, type SignerKey, verifierKey } from "../../domain/evidence/signed-note.ts";
import { ed25519Signer } from "../../infra/crypto/ed25519.ts";
import { sha256 } from "../../infra/crypto/sha256.ts";
import { isCode } from "../../infra/system-error.ts";
import { derive } from "./derive.ts";
import { bytesOf, digestOf } from "./file-digest.ts";
import { CONTROL_FILE, EXPORT_FILE, MANIFEST_FILE, PACK_FILES } from "./files.ts";
import { type Asked, controlsUsing, type Findings } from "./findings.ts";
import { type ListedFile, signedManifest } from "./manifest.ts";

export class FolderInUse extends Error {
  override readonly name = "FolderInUse";
}

const entriesOf = async (path: string): Promise<readonly string[]> => {
  try {
    return await readdir(path);
  } catch (error) {
    if (isCode(error, "ENOENT")) return [];
    throw error;
  }
};

/** Throws `FolderInUse`: a file of another pack must not get into this one. */
export const refuseUsedFolder = async (path: string): Promise<void> => {
  if ((await entriesOf(path)).length > 0)
    throw new FolderInUse(`${path} is not empty. Name a folder that is, or a new one.`);
};

/** Creates the folder, or takes an empty one. */
export const emptyFolder = async (path: string): Promise<void> => {
  await mkdir(path, { recursive: true });
  await refuseUsedFolder(path);
};

/** Makes what is missing on the way to the folder, and gives back what removes it again if nothing was put there. */
export const folderFor = async (path: string): Promise<() => Promise<void>> => {
  const first = await mkdir(path, { recursive: true });
  return async () => {
    for (let at = path; first !== undefined && at.length >= first.length; at = dirname(at)) {
      const isRemoved = await rmdir(at).then(
        () => true,
        () => false,
      );
      if (!isRemoved) return;
    }
  };
};

export type PackTerms = Asked & {
  readonly folder: string;
  /** The bytes of the control file that `controlFile` was read from. */
  readonly controlText: string;
  readonly signer: SignerKey;
};

export type MadePack = {
  readonly findings: Findings;
  /** The verifier key of whoever signed the manifest. */
  readonly signedBy: string;
};

export const verifierKeyOf = ({ name, type, seed }: SignerKey): string =>
  formatVerifierKey(verifierKey(sha256, name, type, ed25519Signer(seed).publicKey));

/** The folder's export, which was downloaded before, and the control file are given; everything else follows from them. */
export const packAround = async (terms: PackTerms): Promise<MadePack> => {
  const { folder, controlText, signer, period, madeAt, madeBy } = terms;
  const pathOf = (name: string): string => join(folder, name);
  const { findings, files } = await derive(() => bytesOf(pathOf(EXPORT_FILE)), terms);
  await writeFile(pathOf(CONTROL_FILE), controlText, { flag: "wx" });
  for (const [name, text] of files) await writeFile(pathOf(name), text, { flag: "wx" });
  const listed: ListedFile[] = [];
  for (const name of PACK_FILES)
    listed.push({ name, ...(await digestOf(pathOf(name))), controls: controlsUsing(name, findings) });
  const signedBy = verifierKeyOf(signer);
  const manifest = { account: findings.account, period, madeAt, madeBy, signer: signedBy, files: listed };
  // The manifest comes last, so that a folder which a crash left unfinished has none.
  await writeFile(pathOf(MANIFEST_FILE), signedManifest(manifest, signer), { flag: "wx" });
  return { findings, signedBy };
};

export const saveExport = async (folder: string, chunks: AsyncIterable<Uint8Array>): Promise<void> => {
  await pipeline(Readable.from(chunks), createWriteStream(join(folder, EXPORT_FILE), { flags: "wx" }));
};
