import type { ErasureLine } from "../../domain/evidence/export-lines.ts";
import type { Leaf } from "../../domain/evidence/leaf.ts";
import { type TreeHead, verifyInclusion } from "../../domain/evidence/merkle.ts";
import type { Platform } from "./platform.ts";
import { readRecord } from "./record-line.ts";
import { type Fault, fault } from "./report.ts";

/** The record of an erasure, which is proved to be in the tree of the checkpoint. */
export const readErasure = (
  platform: Platform,
  { index, leaf: bytes, hashes }: ErasureLine,
  { account, head }: { readonly account: string; readonly head: TreeHead },
): Leaf | { readonly fault: Fault } => {
  const read = readRecord(platform, { kind: "record", index, leaf: bytes }, account);
  if ("fault" in read) return read;
  const { leaf, hash } = read;
  if (!leaf.type.endsWith("Erased")) return { fault: fault("it is no record of an erasure", index) };
  const path = hashes.flatMap((text) => platform.fromBase64(text) ?? []);
  const inclusion = { index, size: head.size, leafHash: hash, path };
  if (path.length !== hashes.length || !verifyInclusion(platform.sha256, inclusion, head.root))
    return { fault: fault("its proof does not lead to the checkpoint", index) };
  return leaf;
};
