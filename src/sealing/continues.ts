import { sameBytes } from "../../domain/evidence/bytes.ts";
import { type Checkpoint, instanceOrigin, parseOrigin } from "../../domain/evidence/checkpoint.ts";
import { type EvidenceReads, INSTANCE_TREE } from "../../domain/ports/evidence-store.ts";
import { logNameOf } from "../evidence/log-name.ts";
import { rootAt } from "../evidence/tree-reads.ts";

/** Whether the folded log leads to this instance checkpoint and on from there; true if there is none. */
export const continues = async (store: EvidenceReads, shown: Checkpoint | null): Promise<boolean> => {
  if (shown === null) return true;
  const [name, before] = [logNameOf(await store.instance()), parseOrigin(shown.origin)];
  // The node was about to seal for the first time, and nothing was shown yet.
  if (name === null && before !== null && before.account === null && shown.size === 0) return true;
  if (name === null || before === null || before.host !== name.host || before.generation > name.generation)
    return false;
  // A later generation was begun on purpose, and its first leaf says what it follows.
  if (before.generation < name.generation) return true;
  const { size } = await store.head(INSTANCE_TREE);
  return size >= shown.size && sameBytes(await rootAt(store, INSTANCE_TREE, shown.size), shown.root);
};

/** Whether the folded log is in the generation of this checkpoint, and leads to it and on from there. */
export const isOfGeneration = async (store: EvidenceReads, checkpoint: Checkpoint): Promise<boolean> => {
  const name = logNameOf(await store.instance());
  return name !== null && checkpoint.origin === instanceOrigin(name) && (await continues(store, checkpoint));
};
