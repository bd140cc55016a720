import { createWriteStream } from "node:fs";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { formatVerifierKey, type SignerKey, verifierKey } from "../../domain/evidence/signed-note.ts";
import { ed25519Signer } from "../../infra/crypto/ed25519.ts";
import { sha256 } from "../../infra/crypto/sha256.ts";
import { derive } from "./derive.ts";
import { bytesOf, digestOf } from "./file-digest.ts";
import { CONTROL_FILE, EXPORT_FILE, MANIFEST_FILE, PACK_FILES } from "./files.ts";
import type { Asked, Findings } from "./findings.ts";
import { type ListedFile, signedManifest } from "./manifest.ts";

export class FolderInUse extends Error {
  override readonly name = "FolderInUse";
}

/** Creates the folder, or takes an empty one: a file of another pack must not get into this one. */
export const emptyFolder = async (path: string): Promise<void> => {
  await mkdir(path, { recursive: true });
  if ((await readdir(path)).length > 0)
    throw new FolderInUse(`${path} is not empty. Name a folder that is, or a new one.`);
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
  const controls = findings.controls.map(({ id }) => id);
  const listed: ListedFile[] = [];
  for (const name of PACK_FILES) listed.push({ name, ...(await digestOf(pathOf(name))), controls });
  const signedBy = verifierKeyOf(signer);
  const manifest = { account: findings.account, period, madeAt, madeBy, signer: signedBy, files: listed };
  // The manifest comes last, so that a folder which a crash left unfinished has none.
  await writeFile(pathOf(MANIFEST_FILE), signedManifest(manifest, signer), { flag: "wx" });
  return { findings, signedBy };
};

export const saveExport = async (folder: string, chunks: AsyncIterable<Uint8Array>): Promise<void> => {
  await pipeline(Readable.from(chunks), createWriteStream(join(folder, EXPORT_FILE), { flags: "wx" }));
};
