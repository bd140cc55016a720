import { textOf } from "../../domain/evidence/bytes.ts";
import { readLeaf } from "../../domain/evidence/leaf.ts";
import { parseNote } from "../../domain/evidence/signed-note.ts";
import { type VerifyOptions, verifyExport } from "./export.ts";
import type { Source } from "./lines.ts";
import { type Platform, platformHere } from "./platform.ts";
import { type ConsistencyProof, consistencyProofs } from "./previous.ts";
import { verifyCheckpoint, verifyProof } from "./proof.ts";
import { concluded, EMPTY_REPORT, fault, type Report } from "./report.ts";
import { parseKeys } from "./trust.ts";

export type InputFile = { readonly name: string; readonly size: number; readonly bytes: Source };

/** Everything but an export is small. */
const SMALL_MAX = 16 * 1024 * 1024;
const BEGINNING_BYTES = 4_096;

const EXPORT_BEGINNING = '{"kind":';
const PROOF_BEGINNING = "c2sp.org/tlog-proof@";

/** An export whose first line was damaged is still one, and broken. */
const isExport = (beginning: string): boolean =>
  beginning.startsWith(EXPORT_BEGINNING) || beginning.includes(`\n${EXPORT_BEGINNING}`);

/** What each signature of a checkpoint begins with, even if something else in the text was damaged. */
const SIGNATURE = /^\u2014 /m;

const beginningOf = async ({ bytes }: InputFile): Promise<string> => {
  for await (const chunk of bytes()) return String.fromCharCode(...chunk.subarray(0, BEGINNING_BYTES));
  return "";
};

const contentOf = async ({ bytes }: InputFile): Promise<Uint8Array> => {
  const parts: number[] = [];
  for await (const chunk of bytes()) for (const byte of chunk) parts.push(byte);
  return Uint8Array.from(parts);
};

const consistencyOf = (text: string): ConsistencyProof | null => {
  let value: Partial<ConsistencyProof> | null;
  try {
    value = JSON.parse(text) as Partial<ConsistencyProof> | null; // Its members are checked in the next lines.
  } catch {
    return null;
  }
  const { from, to, proof } = value ?? {};
  if (typeof from !== "number" || typeof to !== "number" || !Array.isArray(proof)) return null;
  return proof.every((hash) => typeof hash === "string") ? { from, to, proof } : null;
};

type Sorted = {
  exported: InputFile[];
  proofs: string[];
  leaves: Uint8Array[];
  consistency: ConsistencyProof[];
  checkpoints: string[];
  /** Names of files that are none of these. */
  others: string[];
};

const sort = async (files: readonly InputFile[]): Promise<Sorted | string> => {
  const sorted: Sorted = { exported: [], proofs: [], leaves: [], consistency: [], checkpoints: [], others: [] };
  for (const file of files) {
    const beginning = await beginningOf(file);
    if (isExport(beginning)) {
      sorted.exported.push(file);
      continue;
    }
    if (file.size > SMALL_MAX) return `the file ${file.name} is no export, and too large for anything else`;
    const bytes = await contentOf(file);
    const text = textOf(bytes);
    if (text === null) return `the file ${file.name} is not text`;
    const consistency = consistencyOf(text);
    if (beginning.startsWith(PROOF_BEGINNING)) sorted.proofs.push(text);
    else if (consistency !== null) sorted.consistency.push(consistency);
    else if (typeof readLeaf(bytes) !== "string" || beginning.startsWith("{")) sorted.leaves.push(bytes);
    else {
      sorted.checkpoints.push(text);
      if (!SIGNATURE.test(text)) sorted.others.push(file.name);
    }
  }
  return sorted;
};

const isOneSet = ({ exported, proofs, checkpoints, leaves }: Sorted): boolean =>
  exported.length + proofs.length + checkpoints.length === 1 && leaves.length <= proofs.length;

const ONE_SET = "give one export, or one proof with its leaf, or one checkpoint";

/** The reasons of a report are phrases. */
const sentence = (reason: string): string => `${reason.charAt(0).toUpperCase()}${reason.slice(1)}.`;

/** Why nothing can be checked with these keys and earlier checkpoints: a sentence. Null if they are some. */
export const wrongOptions = (options: VerifyOptions, platform: Platform = platformHere()): string | null => {
  const keys = parseKeys(platform, options);
  if (typeof keys === "string") return sentence(keys);
  const isOther = options.previous.some((text) => parseNote(text) === null);
  return isOther ? "What was given as a previous checkpoint is none." : null;
};

/**
 * Why these cannot be checked at all, whatever is in them: files of no known kind, too many of them, or keys that are none: a sentence.
 * Null if `verifyFiles` can say something about them.
 */
export const wrongInput = async (
  files: readonly InputFile[],
  options: VerifyOptions,
  platform: Platform = platformHere(),
): Promise<string | null> => {
  const given = wrongOptions(options, platform);
  if (given !== null) return given;
  const sorted = await sort(files);
  if (typeof sorted === "string") return sentence(sorted);
  const [other] = sorted.others;
  if (other !== undefined) return `The file ${other} is no export, proof, leaf, checkpoint or consistency proof.`;
  return isOneSet(sorted) ? null : sentence(ONE_SET);
};

/**
 * Verifies an export, or a tlog-proof with its leaf, or a checkpoint, and says from their bytes which of them the files
 * are. Consistency proofs from earlier checkpoints may be among them.
 */
export const verifyFiles = async (
  files: readonly InputFile[],
  options: VerifyOptions,
  platform: Platform = platformHere(),
): Promise<Report> => {
  const refused = (reason: string): Report => concluded({ ...EMPTY_REPORT, fault: fault(reason) });
  const sorted = await sort(files);
  if (typeof sorted === "string") return refused(sorted);
  const { exported, proofs, leaves, consistency, checkpoints } = sorted;
  if (!isOneSet(sorted)) return refused(ONE_SET);
  const withProof = { ...options, consistency: [...consistency, ...consistencyProofs(options)] };
  const [first] = exported;
  if (first !== undefined) return verifyExport(first.bytes, withProof, platform);
  const [proof] = proofs;
  if (proof !== undefined) return verifyProof(proof, leaves[0] ?? null, withProof, platform);
  return verifyCheckpoint(checkpoints[0] ?? "", withProof, platform);
};
