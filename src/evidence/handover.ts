import { checkpointText, instanceOrigin, type LogName } from "../../domain/evidence/checkpoint.ts";
import { inclusionPath, type PathPart } from "../../domain/evidence/merkle.ts";
import { formatNote, parseSignatureLine } from "../../domain/evidence/signed-note.ts";
import { signingKeyLeaf } from "../../domain/evidence/signing-key.ts";
import { formatTlogProof } from "../../domain/evidence/tlog-proof.ts";
import type { NamedSigningKey } from "../../domain/ports/evidence-store.ts";

/** A leaf that names a key, and the checkpoint that ends with it, signed by it and by the key before, as a tlog-proof. */
export type Handover = { readonly leaf: Uint8Array; readonly proof: string };

/** What a handover needs of the instance tree. */
export type InstanceTree = {
  rootAt(size: number): Promise<Uint8Array>;
  pathAt(path: readonly PathPart[]): Promise<readonly Uint8Array[]>;
};

/** Null for the very first key, which no key has handed over. */
export const handoverOf = async (
  tree: InstanceTree,
  name: LogName,
  { leaf, vkey, previous, reason, handover }: NamedSigningKey,
): Promise<Handover | null> => {
  const signatures = (handover?.split("\n") ?? []).flatMap((line) => parseSignatureLine(line) ?? []);
  if (signatures.length === 0) return null;
  const size = leaf + 1;
  const text = checkpointText(instanceOrigin(name), { size, root: await tree.rootAt(size) });
  const path = await tree.pathAt(inclusionPath(leaf, size));
  const proof = formatTlogProof({ extra: null, index: leaf, path, checkpoint: formatNote({ text, signatures }) });
  return { leaf: signingKeyLeaf({ vkey, previous, reason }), proof };
};
