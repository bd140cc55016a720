import type { ClosedLoop, OpenLoop } from "./admission.ts";
import type { Growth } from "./growth.ts";
import type { Arrival, Sustained } from "./pipeline.ts";
import type { Crash } from "./rest.ts";
import type { EngineNames } from "./subject.ts";

/** Rates are per second. */
export type Measured = {
  readonly engines: EngineNames;
  readonly notes: readonly string[];
  readonly echo: { readonly perS: number; readonly loadCpuShare: number };
  /** I: both records of an admission, through the bare client of the log's engine. */
  readonly keptPerS: number;
  /** F: the rate of one thread that only echoes and stores. */
  readonly floorPerS: number;
  readonly admission: ClosedLoop;
  readonly sustained: Sustained;
  readonly halfLoad: OpenLoop;
  readonly arrival: Arrival;
  readonly idlePercent: number | null;
  readonly crash: Crash;
  readonly growth: readonly Growth[];
};
