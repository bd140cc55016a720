import { extname } from "node:path";
import type { EvidenceStore } from "../../domain/ports/evidence-store.ts";
import { sqliteEvidenceStore } from "../../infra/sqlite/evidence-store.ts";
import type { Config } from "../config.ts";
import { type EngineLocations, evidenceFileOf } from "../engine/open-engines.ts";
import { EVIDENCE } from "../evidence/evidence-follower.ts";
import { PROJECTIONS } from "../evidence/no-projections.ts";
import type { Unsealed } from "../evidence/unsealed.ts";
import { presentSigningKey, signingKeyPlaceOf } from "../sealing/signing-key.ts";
import type { ProjectorFailure } from "../views/projector.ts";
import { type ProjectorThread, projectorThread } from "../views/projector-thread.ts";

/** What this node folds of the log's records into trees. Another thread writes it. */
export type OpenedEvidence = {
  readonly store: EvidenceStore;
  /** Null if this node does not seal, because it has not the role "projector". */
  readonly unsealed: (() => Promise<Unsealed | null>) | null;
  /** Calls the listener when records were folded. */
  onFolded(listener: () => void): void;
  close(): Promise<void>;
};

type Failed = (failure: ProjectorFailure) => void;

/** The file of a thread that folds it: null on a node that answers no requests and folds no views. */
export const foldedEvidence = ({ roles, dataDir }: Config): string | null =>
  roles.includes("api") || roles.includes("projector") ? evidenceFileOf({ dataDir }) : null;

/** A thread that found the file damaged has replaced it. */
export const reopening =
  (store: EvidenceStore | null, onError: Failed): Failed =>
  (failure) => {
    onError(failure);
    if (failure.view === EVIDENCE) store?.reopen().catch((error: unknown) => onError({ ...failure, error }));
  };

export const openEvidenceStore = (config: Config): EvidenceStore | null => {
  const file = foldedEvidence(config);
  if (file === null) return null;
  // A key that the operator has named and that cannot be used is found at the start, not at the first seal.
  if (config.auditKeyFile !== null) presentSigningKey(signingKeyPlaceOf(config));
  return sqliteEvidenceStore(file);
};

/** `projector`: the thread that folds the views of this node, and the evidence as well. */
export const openEvidence = async (
  store: EvidenceStore | null,
  locations: EngineLocations,
  { projector, file, onError }: { projector: ProjectorThread | null; file: string | null; onError: Failed },
): Promise<OpenedEvidence | null> => {
  if (store === null || file === null) return null;
  // On the embedded log the process with the role "projector" folds into the same file.
  const own =
    projector === null && locations.log.engine !== "sqlite"
      ? await projectorThread({
          locations,
          evidence: file,
          module: {
            url: new URL(`../evidence/no-projections${extname(import.meta.url)}`, import.meta.url).href,
            projections: PROJECTIONS,
          },
          onError,
        })
      : null;
  return {
    store,
    unsealed: projector === null ? null : () => projector.unsealed(),
    onFolded(listener) {
      projector?.onProgress((reached) => {
        if (reached.some(({ view }) => view === EVIDENCE)) listener();
      });
    },
    async close() {
      await own?.stop();
      await store.close();
    },
  };
};
