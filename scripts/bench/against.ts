import type { World } from "./bench-world.ts";
import { EMBEDDED, type EngineSet } from "./engines.ts";
import { type Bars, measurePair, type PairOutcome, type TurnsOrder } from "./turns.ts";
import { RATES, type Workload } from "./workloads.ts";

/** The targets of this build against commit 44e85a5, from which the speed was to be doubled. */
export const againstBars = ({ key, rate }: Pick<Workload, "key" | "rate">): Bars => {
  if (key === "admission") return { rateMin: 2.2, processorMax: 0.5 };
  if (key === "delivered") return { rateMin: 2.2, processorMax: 0.45 };
  return { rateMin: null, processorMax: rate === RATES.usual ? 0.6 : null };
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
  const bars = { barsOf: againstBars, diskMax: 0.5 };
  return measurePair(world, { name, without: ofCheckout(set, checkout), with: set, ...bars }, order);
};

/** An event on another log may take this many times the processor time of the service's own process. */
const engineBars = ({ key, rate }: Workload): Bars => ({
  rateMin: null,
  processorMax: key === "delivered" && rate === null ? 2 : null,
});

/** The service on these engines, against the service on the embedded ones. */
export const measureEngineRatio = (world: World, set: EngineSet, order: TurnsOrder): Promise<PairOutcome> => {
  const name = `${set.name} engines, and without them the embedded ones`;
  return measurePair(world, { name, without: EMBEDDED, with: set, barsOf: engineBars, diskMax: null }, order);
};
