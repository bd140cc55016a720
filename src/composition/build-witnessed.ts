import { instanceOrigin } from "../../domain/evidence/checkpoint.ts";
import { INSTANCE_STREAM } from "../../domain/evidence/instance-events.ts";
import { consistencyPath } from "../../domain/evidence/merkle.ts";
import { parseVerifierKey } from "../../domain/evidence/signed-note.ts";
import { type EvidenceReads, INSTANCE_TREE } from "../../domain/ports/evidence-store.ts";
import { sha256 } from "../../infra/crypto/sha256.ts";
import { logNameOf } from "../evidence/log-name.ts";
import { pathAt, rootAt } from "../evidence/tree-reads.ts";
import { NothingSigned, type Sealing } from "../sealing/sealing.ts";
import type { InstanceTree } from "../witnessing/instance-tree.ts";
import { WitnessedCheckpoints } from "../witnessing/witnessed.ts";
import type { OpenedEngines } from "./opened-engines.ts";

const instanceTree = (log: OpenedEngines["log"], store: EvidenceReads, sealing: Sealing): InstanceTree => ({
  async isCurrent() {
    const last = await log.last(INSTANCE_STREAM);
    return ((await store.instance()).revision ?? -1) >= (last?.revision ?? -1);
  },
  async origin() {
    const name = logNameOf(await store.instance());
    return name === null ? null : instanceOrigin(name);
  },
  checkpoint: () =>
    sealing.instance().catch((error: unknown) => {
      if (error instanceof NothingSigned) return null;
      throw error;
    }),
  consistency: (from, to) => pathAt(store, INSTANCE_TREE, consistencyPath(from, to)),
  async rootAt(size) {
    return size > (await store.head(INSTANCE_TREE)).size ? null : rootAt(store, INSTANCE_TREE, size);
  },
  async keys() {
    const { keys } = await store.instance();
    return keys.flatMap(({ vkey }) => parseVerifierKey(sha256, vkey) ?? []);
  },
});

/** Null on a node that folds no evidence. */
export const buildWitnessed = (
  { config, evidence, log }: OpenedEngines,
  sealing: Sealing | null,
): { readonly tree: InstanceTree; readonly witnessed: WitnessedCheckpoints } | null => {
  if (evidence == null || sealing === null) return null;
  const tree = instanceTree(log, evidence.store, sealing);
  return { tree, witnessed: new WitnessedCheckpoints({ log, tree, config: config.witnesses }) };
};
