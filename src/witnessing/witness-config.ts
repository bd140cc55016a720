import type { WitnessPolicy } from "../../domain/evidence/witness-policy.ts";

/** A witness is asked at `<url>/add-checkpoint`; the URL has no slash at the end. */
export type AskedWitness = WitnessPolicy["witnesses"][number] & { readonly url: string };

export type WitnessConfig = {
  readonly policy: WitnessPolicy;
  readonly witnesses: readonly AskedWitness[];
  /** "open": checkpoints are published before the quorum has cosigned them, "closed": only afterwards. */
  readonly mode: "open" | "closed";
};
