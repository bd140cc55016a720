import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { parseVerifierKey } from "../../domain/evidence/signed-note.ts";
import { sha256 } from "../../infra/crypto/sha256.ts";
import { checkPack, type PackFault, type PackVerdict } from "../evidence-pack/check-pack.ts";
import { bytesOf } from "../evidence-pack/file-digest.ts";
import { EXPORT_FILE } from "../evidence-pack/files.ts";
import { limitHeapGrowth } from "../threads/garbage-collection.ts";
import type { VerifyOptions } from "../verifier/export.ts";
import { verifyFiles } from "../verifier/files.ts";
import { concluded, EMPTY_REPORT, fault, type Report } from "../verifier/report.ts";
import { inWords } from "../verifier/words.ts";
import { UsageError } from "./command.ts";

export type FolderReport = Report & {
  /** The files that are not as they have to be, each with the controls that use it. */
  readonly files: readonly PackFault[];
};

/** A pipe in place of the export would be read for ever, and a link leads out of the folder. */
const exportReport = async (folder: string, options: VerifyOptions): Promise<Report> => {
  const path = join(folder, EXPORT_FILE);
  const found = await lstat(path).catch(() => null);
  if (found?.isFile() !== true) return concluded({ ...EMPTY_REPORT, fault: fault(`${EXPORT_FILE} is missing`) });
  return verifyFiles([{ name: EXPORT_FILE, size: found.size, bytes: () => bytesOf(path) }], options);
};

const signerNote = ({ manifest, isVouchedFor }: PackVerdict): readonly string[] => {
  if (manifest === null) return [];
  const { signer, period, madeAt } = manifest;
  const what = `The pack for ${period.from} to before ${period.to} was made at ${madeAt} and signed by ${signer}`;
  return [
    isVouchedFor ? what : `${what}; no --pack-key was given, so nothing is said about who chose period and claims`,
  ];
};

/** Verifies the export, and that everything else in the folder follows from it and from the control file. */
export const verifyFolder = async (
  folder: string,
  options: VerifyOptions,
  pack: { readonly packKey: string | null; readonly version: string },
): Promise<FolderReport> => {
  if ((await readdir(folder)).length === 0) throw new UsageError(`The folder "${folder}" is empty.`);
  const packKey = pack.packKey === null ? null : parseVerifierKey(sha256, pack.packKey);
  if (pack.packKey !== null && packKey === null) throw new UsageError("--pack-key takes a verifier key.");
  limitHeapGrowth();
  const checked = await checkPack({ folder, packKey, version: pack.version });
  const exported = await exportReport(folder, options);
  const { faults: files, unchecked } = checked;
  const [first] = files;
  const report = concluded({
    ...exported,
    fault: exported.fault ?? (first === undefined ? null : fault(`${first.file}: ${first.why}`)),
    missing: [...exported.missing, ...unchecked],
    notes: [...exported.notes, ...checked.open, ...signerNote(checked)],
  });
  return { ...report, files };
};

/** The names come from the folder, so the terminal escapes what is invisible in them. */
const fileLine = ({ file, why, controls }: PackFault): string =>
  `${file}: ${why}. ${controls.length === 0 ? "No control uses it." : `Controls that use it: ${controls.join(", ")}.`}`;

export const folderInWords = (report: FolderReport): readonly string[] => {
  const [verdict = "", ...lines] = inWords(report);
  return [verdict, ...report.files.map(fileLine), ...lines];
};
