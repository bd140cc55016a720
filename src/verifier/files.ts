import { textOf } from "../../domain/evidence/bytes.ts";
import { readLeaf } from "../../domain/evidence/leaf.ts";
import { type VerifyOptions, verifyExport } from "./export.ts";
import type { Source } from "./lines.ts";
import { type Platform, platformHere } from "./platform.ts";
import type { ConsistencyProof } from "./previous.ts";
import { verifyCheckpoint, verifyProof } from "./proof.ts";
import { concluded, EMPTY_REPORT, fault, type Report } from "./report.ts";

export type InputFile = { readonly name: string; readonly size: number; readonly bytes: Source };

/** Everything but an export is small. */
const SMALL_MAX = 16 * 1024 * 1024;
const BEGINNING_BYTES = 64;

const EXPORT_BEGINNING = '{"kind":';
const PROOF_BEGINNING = "c2sp.org/tlog-proof@";

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
};

const sort = async (files: readonly InputFile[]): Promise<Sorted | string> => {
  const sorted: Sorted = { exported: [], proofs: [], leaves: [], consistency: [], checkpoints: [] };
  for (const file of files) {
    const beginning = await beginningOf(file);
    if (beginning.startsWith(EXPORT_BEGINNING)) {
      sorted.exported.push(file);
      continue;
    }
    if (file.size > SMALL_MAX) return `${file.name} is no export, and too large for anything else`;
    const bytes = await contentOf(file);
    const text = textOf(bytes);
    if (text === null) return `${file.name} is not text`;
    const consistency = consistencyOf(text);
    if (beginning.startsWith(PROOF_BEGINNING)) sorted.proofs.push(text);
    else if (consistency !== null) sorted.consistency.push(consistency);
    else if (typeof readLeaf(bytes) !== "string" || beginning.startsWith("{")) sorted.leaves.push(bytes);
    else sorted.checkpoints.push(text);
  }
  return sorted;
};

/**
 * Verifies an export, or a tlog-proof with its leaf, or a checkpoint, and says from their bytes which of them the files
 * are. One of the files may be a consistency proof from the previous checkpoint.
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
  const subjects = exported.length + proofs.length + checkpoints.length;
  if (subjects !== 1 || leaves.length > proofs.length || consistency.length > 1)
    return refused("give one export, or one proof with its leaf, or one checkpoint");
  const withProof = { ...options, consistency: consistency[0] ?? options.consistency ?? null };
  const [first] = exported;
  if (first !== undefined) return verifyExport(first.bytes, withProof, platform);
  const [proof] = proofs;
  if (proof !== undefined) return verifyProof(proof, leaves[0] ?? null, withProof, platform);
  return verifyCheckpoint(checkpoints[0] ?? "", withProof, platform);
};
