import { LastCheckpoint, lastCheckpointFileOf } from "../sealing/last-checkpoint.ts";
import { Sealing, type SealingState } from "../sealing/sealing.ts";
import { heldSigner, signingKeyPlaceOf } from "../sealing/signing-key.ts";
import type { OpenedEngines } from "./opened-engines.ts";

/** Null on a node that folds no evidence. */
export const buildSealing = (
  { config, evidence, log, logger, randomness }: OpenedEngines,
  publicUrl: () => string,
): Sealing | null => {
  if (evidence == null) return null;
  const place = signingKeyPlaceOf(config);
  const onState = (state: SealingState): void => {
    if (state.kind === "stopped") logger.error({ part: "sealing" }, `Nothing is signed: ${state.reason}`);
  };
  return new Sealing({
    log,
    store: evidence.store,
    signerFor: heldSigner(place, () => new URL(publicUrl()).host, randomness),
    last: new LastCheckpoint(lastCheckpointFileOf(place), randomness),
    isLastExpected: place.mayCreate,
    onState,
  });
};
