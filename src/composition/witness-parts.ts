import { ROUND_MS, WitnessRounds } from "../witnessing/witness-rounds.ts";
import type { Foundation } from "./foundation.ts";
import { type Part, timer } from "./part.ts";

/** The first round comes soon, because it finds a log that was rolled back. */
const FIRST_MS = 2_000;

/** The nodes that seal ask the witnesses. */
export const witnessParts = (foundation: Foundation): readonly Part[] => {
  const { config, cosigned, sealing, logger, meters } = foundation;
  if (config.witnesses === null || cosigned === null || sealing === null) return [];
  const rounds = new WitnessRounds({
    ...foundation,
    tree: cosigned.tree,
    config: config.witnesses,
    onFailure: (sentence) => logger.error({ part: "witnesses" }, sentence),
    onContradiction: (sentence) => sealing.contradicted(sentence),
    onOutcome: meters.witnessAsked,
  });
  const round = timer(
    { name: "witnesses", role: "projector", ms: ROUND_MS, firstMs: FIRST_MS },
    () => rounds.run(),
    foundation.errorsOf("witnesses", "asking for cosignatures"),
  );
  return [
    {
      ...round,
      stop(graceMs) {
        rounds.stop();
        return round.stop?.(graceMs);
      },
      health: { consequence: "informational", check: () => rounds.healthy() },
    },
  ];
};
