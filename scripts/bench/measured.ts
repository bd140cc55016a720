import type { ClosedLoop, OpenLoop } from "./admission.ts";
import type { Growth } from "./growth.ts";
import type { Arrival, Sustained } from "./pipeline.ts";
import type { Crash } from "./rest.ts";
import type { EngineNames } from "./subject.ts";

/** What was measured of one set of engines. Rates a second, times as their names say. */
export type Measured = {
  /** As the service names them. */
  readonly engines: EngineNames;
  /** Sentences on what they are or keep. */
  readonly notes: readonly string[];
  readonly echo: { readonly perS: number; readonly loadCpuShare: number };
  /** I: both records of an admission, through the bare client of the log's engine. */
  readonly keptPerS: number;
  /** F: what one thread can do that only echoes and keeps. */
  readonly floorPerS: number;
  readonly admission: ClosedLoop;
  readonly sustained: Sustained;
  readonly halfLoad: OpenLoop;
  readonly arrival: Arrival;
  readonly idlePercent: number | null;
  readonly crash: Crash;
  readonly growth: readonly Growth[];
};
