import { sameBytes } from "../../domain/evidence/bytes.ts";
import type { CosignedLine } from "../../domain/evidence/export-lines.ts";
import { verifyConsistency } from "../../domain/evidence/merkle.ts";
import type { Platform } from "./platform.ts";
import { type Keys, type KnownHead, readCosigned, type SignedCheckpoint, witnessesOf } from "./trust.ts";

type Known = {
  readonly signed: SignedCheckpoint;
  readonly keys: Keys;
  /** Whether the records of the file will be compared with a tree of this size. */
  readonly covers: (size: number) => boolean;
};

/** Those of the file's tree, the smallest first. `unproved` is how many cosigned checkpoints may be another tree's. */
export type Heads = { readonly proved: readonly KnownHead[]; readonly unproved: number };

/** Whether the file shows that the cosigned checkpoint is one of its own tree; a text if it is one of another tree. */
const isOfTree = (
  { sha256, fromBase64 }: Platform,
  { size, root }: Pick<KnownHead, "size" | "root">,
  { consistency }: CosignedLine,
  { signed: { checkpoint }, covers }: Known,
): boolean | string => {
  // An empty tree is the beginning of every tree, so whoever saw it has seen nothing.
  if (size === 0) return false;
  if (size === checkpoint.size)
    return sameBytes(root, checkpoint.root) || `it is another one of ${size} records than the newest`;
  if (covers(size)) return true;
  if (consistency === undefined) return false;
  const path = consistency.map((text) => fromBase64(text));
  const isProved = path.every((hash) => hash !== null) && verifyConsistency(sha256, { size, root }, checkpoint, path);
  return isProved || "its consistency proof does not lead to the newest checkpoint";
};

/** What witnesses, and the log's own instance tree, say of the tree: nothing counts that may be about another one. */
export const readHeads = async (
  platform: Platform,
  cosigned: readonly CosignedLine[],
  known: Known,
): Promise<Heads | string> => {
  const { signed, keys } = known;
  const { origin, size, root } = signed.checkpoint;
  const own = await witnessesOf(platform, signed.note, keys.witnesses);
  if (typeof own === "string") return own;
  const proved = own.map((witness): KnownHead => ({ size, root, witness, what: "the checkpoint" }));
  let unproved = 0;
  for (const line of cosigned) {
    const read = await readCosigned(platform, line, keys);
    if (typeof read === "string") return `a cosigned checkpoint: ${read}`;
    if (read.checkpoint.origin !== origin) return `a cosigned checkpoint is one of ${read.checkpoint.origin}`;
    if (read.checkpoint.size > size) return "a cosigned checkpoint has more records than the newest checkpoint";
    // Nobody who counts has signed it.
    if (read.heads.length === 0) continue;
    const isOwn = isOfTree(platform, read.checkpoint, line, known);
    if (typeof isOwn === "string") return `a cosigned checkpoint: ${isOwn}`;
    if (isOwn) proved.push(...read.heads);
    else unproved += 1;
  }
  return { proved: proved.sort((a, b) => a.size - b.size), unproved };
};
