import type { ClosedLoop, OpenLoop } from "./admission.ts";
import type { Echo } from "./floor.ts";
import type { Growth } from "./growth.ts";
import type { Arrival, Sustained } from "./pipeline.ts";
import type { ProcessorCosts, SplitRoles } from "./processor-costs.ts";
import type { Crash } from "./rest.ts";
import type { EngineNames } from "./subject.ts";

/** What was measured on one set of engines. Rates are per second. */
export type Measured = {
  readonly engines: EngineNames;
  readonly notes: readonly string[];
  readonly echo: Echo;
  /** I: how often a second the bare client of the log's engine appends both records of an admission. */
  readonly keptPerS: number;
  /** Processor time (ms) of one such pair of appends in the client's process; null if the system does not tell. */
  readonly keptMs: number | null;
  /** F: the rate of one thread that would only echo (E) and store (I). */
  readonly floorPerS: number;
  readonly admission: ClosedLoop;
  readonly sustained: Sustained;
  readonly halfLoad: OpenLoop;
  readonly arrival: Arrival;
  readonly usualArrival: Arrival;
  readonly costs: ProcessorCosts;
  readonly split: SplitRoles;
  readonly idlePercent: number | null;
  readonly crash: Crash;
  readonly growth: readonly Growth[];
};
