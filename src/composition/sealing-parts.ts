import { Sealer } from "../sealing/sealer.ts";
import type { Foundation } from "./foundation.ts";
import type { Part } from "./part.ts";

/** Seals on a node with the role "projector"; elsewhere it only says whether checkpoints can be signed. */
export const sealingParts = ({ evidence, sealing, log, clock, errorsOf }: Foundation): readonly Part[] => {
  if (evidence == null || sealing === null) return [];
  const { unsealed } = evidence;
  const onError = errorsOf("sealing", "sealing what was recorded");
  const sealer = unsealed === null ? null : new Sealer({ log, clock, sealing, unsealed, onError });
  return [
    { name: "evidence", role: null, stop: () => evidence.close() },
    {
      name: "sealing",
      role: null,
      start() {
        if (sealer === null) return void sealing.judge().catch(onError);
        evidence.onFolded(() => sealer.wake());
        sealer.start();
      },
      stop: () => sealer?.stop(),
      health: { consequence: "degraded", check: () => sealing.healthy() },
    },
  ];
};
