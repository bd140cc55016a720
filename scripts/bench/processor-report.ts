import type { Measured } from "./measured.ts";
import type { LoadCosts } from "./processor-costs.ts";
import { amount, microseconds, table } from "./table.ts";

/** Processor time (ms) of one bare echo and one bare pair of appends; null if the system does not tell. */
const floorMsOf = ({ echo, keptMs }: Pick<Measured, "echo" | "keptMs">): number | null =>
  echo.processorMs === null || keptMs === null ? null : echo.processorMs + keptMs;

/** The processor times of one event, each also as a multiple of the floor under full load. Empty if there are none. */
export const processorTable = (measured: Pick<Measured, "echo" | "keptMs" | "costs" | "split">): string => {
  const { costs, split, echo, keptMs } = measured;
  const floorMs = floorMsOf(measured);
  if (floorMs === null) return "";
  const cell = (ms: number | null): string => (ms === null ? "" : `${microseconds(ms)}, ${amount(ms / floorMs)} x`);
  const line = (name: string, { full, at430, at100 }: LoadCosts): string[] => [name, ...[full, at430, at100].map(cell)];
  const parts = [echo.processorMs ?? 0, keptMs ?? 0].map(microseconds).join(" + ");
  return table(
    ["processor time of one, and as a multiple of F", "full load", "at 430/s", "at 100/s"],
    [
      ["F  bare echo + bare appends", `${microseconds(floorMs)}: ${parts}`],
      line("admission, folded", costs.admission),
      line("event, admitted, delivered, folded", costs.delivered),
      line("   its folding alone, in a process of its own", split.folded),
    ],
  );
};
