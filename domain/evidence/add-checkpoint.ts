import { fromBase64, sameBytes, toBase64 } from "./bytes.ts";
import { parseSize } from "./checkpoint.ts";
import { HASH_BYTES, type Sha256, type TreeHead, verifyConsistency } from "./merkle.ts";

/** The call `add-checkpoint` of C2SP tlog-witness v1.0.0. */
export type AddCheckpoint = {
  /** The size of the tree that the witness cosigned last; 0 if it has cosigned none. */
  readonly oldSize: number;
  readonly proof: readonly Uint8Array[];
  /** The new checkpoint with its signatures. */
  readonly note: string;
};

const PROOF_LINES_MAX = 63;
const OLD = "old ";

/** Null if the body does not have the form of the call. A size that a program cannot count to is refused, too. */
export const parseAddCheckpoint = (body: string): AddCheckpoint | null => {
  const end = body.indexOf("\n\n");
  const [first = "", ...lines] = body.slice(0, Math.max(0, end)).split("\n");
  const oldSize = first.startsWith(OLD) ? parseSize(first.slice(OLD.length)) : null;
  if (oldSize === null || lines.length > PROOF_LINES_MAX) return null;
  const proof: Uint8Array[] = [];
  for (const line of lines) {
    const hash = fromBase64(line);
    if (hash?.length !== HASH_BYTES) return null;
    proof.push(hash);
  }
  return { oldSize, proof, note: body.slice(end + 2) };
};

export const formatAddCheckpoint = ({ oldSize, proof, note }: AddCheckpoint): string =>
  `${[`${OLD}${oldSize}`, ...proof.map(toBase64)].join("\n")}\n\n${note}`;

/**
 * Whether a witness may cosign. `beyond`: the old size is above the new one. `conflict`: it is not the size that was
 * cosigned last. `unproved`: the proof does not show that the new tree begins with the old one.
 */
export type CosignVerdict = "cosign" | "beyond" | "conflict" | "unproved";

/** True if the two trees have one size and different roots, which proves that their log has two histories. */
export const isFork = (one: TreeHead, other: TreeHead): boolean =>
  one.size === other.size && !sameBytes(one.root, other.root);

export const mayCosign = (
  sha256: Sha256,
  seen: TreeHead | null,
  { oldSize, proof }: Pick<AddCheckpoint, "oldSize" | "proof">,
  next: TreeHead,
): CosignVerdict => {
  if (oldSize > next.size) return "beyond";
  const last = seen ?? { size: 0, root: sha256(new Uint8Array()) };
  if (oldSize !== last.size) return "conflict";
  return verifyConsistency(sha256, last, next, proof) ? "cosign" : "unproved";
};
