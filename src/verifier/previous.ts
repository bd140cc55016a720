import { sameBytes } from "../../domain/evidence/bytes.ts";
import { type Checkpoint, parseOrigin } from "../../domain/evidence/checkpoint.ts";
import { verifyConsistency } from "../../domain/evidence/merkle.ts";
import type { Platform } from "./platform.ts";
import { type Fault, fault } from "./report.ts";
import { type Keys, type KnownHead, type Reopened, readSigned, type SignedCheckpoint, witnessesOf } from "./trust.ts";

/** The answer of `GET /v1/audit/consistency`; `proof` is base64. */
export type ConsistencyProof = { readonly from: number; readonly to: number; readonly proof: readonly string[] };

export type PreviousOptions = {
  /** Signed checkpoints that were kept from earlier. */
  readonly previous: readonly string[];
  /** Needed where the records themselves do not prove that the tree has only grown: one for each earlier checkpoint. */
  readonly consistency?: ConsistencyProof | readonly ConsistencyProof[] | null;
};

export const consistencyProofs = ({ consistency = null }: Pick<PreviousOptions, "consistency">) =>
  consistency === null ? [] : [consistency].flat();

type Comparison = {
  readonly keys: Keys;
  readonly options: PreviousOptions;
  /** Whether the records of the file will be compared with a tree of this size. */
  readonly covers: (size: number) => boolean;
  /** Null if the file does not prove why the log was reopened. */
  readonly reopened: Reopened | null;
};

type Compared = {
  readonly fault: Fault | null;
  readonly missing: readonly string[];
  /** True if it is certain that records of a checkpoint from before a restore are not there. */
  readonly isReplaced: boolean;
  readonly heads: readonly KnownHead[];
  /** Those that a witness whose key is known has cosigned, as a witness of one's own does. */
  readonly witnessed: readonly KnownHead[];
};

const compared = (missing: readonly string[]): Compared => ({
  fault: null,
  missing,
  isReplaced: false,
  heads: [],
  witnessed: [],
});

const failed = (reason: string, index: number | null = null): Compared => ({
  ...compared([]),
  fault: fault(reason, index),
});

const isProved = (
  { sha256, fromBase64 }: Platform,
  older: SignedCheckpoint,
  newer: SignedCheckpoint,
  { proof }: ConsistencyProof,
): boolean => {
  const path = proof.map((text) => fromBase64(text));
  return path.every((hash) => hash !== null) && verifyConsistency(sha256, older.checkpoint, newer.checkpoint, path);
};

/** What would have to be there for a consistency proof that is of no use. */
const unusedProof = ({ from, to }: ConsistencyProof, { size, origin }: Checkpoint): string =>
  to === size
    ? `a previous checkpoint of ${origin} with ${from} records, signed by a known key, for the consistency proof from ${from} to ${to}`
    : `the checkpoint of ${to} records that the consistency proof from ${from} leads to: this one has ${size}`;

/** What the file says about the later generation that its own checkpoint is of. */
const reopening = (generation: number, reopened: Reopened | null): string =>
  `the log was reopened as generation ${generation}` +
  (reopened === null
    ? ", and nothing in the file says why"
    : ` after the size ${reopened.size} of ${reopened.origin}: ${JSON.stringify(reopened.reason)}`);

/** A checkpoint of an earlier generation: what it had may have been lost in a restore, which is no silent rewriting. */
const compareGenerations = (
  before: Checkpoint,
  newer: Checkpoint,
  { covers, reopened }: Pick<Comparison, "covers" | "reopened">,
): Compared => {
  const [old, now] = [parseOrigin(before.origin), parseOrigin(newer.origin)];
  if (old === null || now === null || old.host !== now.host || old.account !== now.account)
    return failed(`the previous checkpoint is one of ${before.origin}, this one of ${newer.origin}`);
  if (old.generation > now.generation)
    return failed(`the log went back from generation ${old.generation} to ${now.generation}`);
  const why = reopening(now.generation, reopened);
  if (before.size > newer.size)
    return {
      ...compared([
        `${before.size - newer.size} records at least, which the previous checkpoint has, and others may have been changed: ${why}`,
      ]),
      isReplaced: true,
    };
  if (!covers(before.size))
    return compared([`records that show whether they continue the previous checkpoint: ${why}`]);
  const head = { size: before.size, root: before.root, witness: null, what: why, isBefore: true };
  return { ...compared([]), heads: [head] };
};

/** Compares a checkpoint with earlier ones: they have to be of the same tree, which has only grown since. */
export const comparePrevious = async (
  platform: Platform,
  newer: SignedCheckpoint,
  { keys, options, covers, reopened }: Comparison,
): Promise<Compared> => {
  const heads: KnownHead[] = [];
  const witnessed: KnownHead[] = [];
  const missing: string[] = [];
  let isReplaced = false;
  const { size, root, origin } = newer.checkpoint;
  const unused = new Set(consistencyProofs(options));
  for (const text of options.previous) {
    const older = await readSigned(platform, text, keys.ever);
    if ("reason" in older) return failed(`the previous checkpoint: ${older.reason}`);
    if ("unknown" in older) {
      missing.push(`a check of the previous checkpoint: ${older.unknown}`);
      continue;
    }
    const before = older.checkpoint;
    if (before.origin !== origin) {
      const across = compareGenerations(before, newer.checkpoint, { covers, reopened });
      if (across.fault !== null) return across;
      isReplaced ||= across.isReplaced;
      missing.push(...across.missing);
      heads.push(...across.heads);
      continue;
    }
    if (before.size > size)
      return failed(`the log went back: the previous checkpoint has ${before.size} records, this one ${size}`, size);
    const isSame = before.size === size;
    if (isSame && !sameBytes(before.root, root)) return failed(`there are two checkpoints of size ${size}`);
    const head = { size: before.size, root: before.root, witness: null, what: "the previous checkpoint" };
    const proofs = consistencyProofs(options).filter(({ from, to }) => from === before.size && to === size);
    for (const proof of proofs) {
      unused.delete(proof);
      if (!isProved(platform, older, newer, proof))
        return failed("the consistency proof does not lead from the previous checkpoint to this one");
    }
    const cosigners = await witnessesOf(platform, older.note, keys.witnesses);
    if (typeof cosigners === "string") return failed(`the previous checkpoint: ${cosigners}`);
    const isProvedHere = covers(before.size) || isSame || proofs.length > 0;
    if (isProvedHere) witnessed.push(...cosigners.map((witness) => ({ ...head, witness })));
    if (covers(before.size)) heads.push(head);
    else if (!isProvedHere && before.size > 0)
      missing.push(`a consistency proof from ${before.size} to ${size}, as the records do not give one`);
  }
  missing.push(...[...unused].map((proof) => unusedProof(proof, newer.checkpoint)));
  return { fault: null, missing, isReplaced, heads, witnessed };
};
