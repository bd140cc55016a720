import type { World } from "./bench-world.ts";
import type { EngineSet } from "./engines.ts";
import { type Bars, measurePair, type PairOutcome, type TurnsOrder } from "./turns.ts";
import type { Workload } from "./workloads.ts";

/** The targets of this build against commit 44e85a5, from which the speed was to be doubled. */
export const againstBars = ({ key, rate }: Pick<Workload, "key" | "rate">): Bars => {
  if (key === "admission") return { rateMin: 2.2, processorMax: 0.5 };
  if (key === "delivered") return { rateMin: 2.2, processorMax: 0.45 };
  return { rateMin: null, processorMax: rate === 430 ? 0.6 : null };
};

const ofCheckout = (set: EngineSet, checkout: string): EngineSet => ({
  ...set,
  open: async () => ({ ...(await set.open()), checkout }),
});

/** `checkout` is another checkout, in which `npm run build` has run. */
export const measureAgainst = (
  world: World,
  set: EngineSet,
  checkout: string,
  order: TurnsOrder,
): Promise<PairOutcome> => {
  const name = `this build, and without it ${checkout}`;
  return measurePair(world, { name, without: ofCheckout(set, checkout), with: set, barsOf: againstBars }, order);
};
