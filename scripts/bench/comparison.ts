import type { Measured } from "./measured.ts";
import { amount, table } from "./table.ts";

type Figure = { readonly name: string; readonly of: (measured: Measured) => number | null };

const FIGURES: readonly Figure[] = [
  { name: "E  bare Fastify echo, /s", of: (it) => it.echo.perS },
  { name: "I  bare appends of both records, /s", of: (it) => it.keptPerS },
  { name: "F  floor, /s", of: (it) => it.floorPerS },
  { name: "A  admitted, closed loop, /s", of: (it) => it.admission.perS },
  { name: "   processor time of one, ms", of: (it) => it.costs.admission.full },
  { name: "S  admitted, delivered, visible, /s", of: (it) => it.sustained.perS },
  { name: "   processor time of one delivered, ms", of: (it) => it.costs.delivered.full },
  { name: "at A/2: admission p50, ms", of: (it) => it.halfLoad.latencyMs.p50 },
  { name: "   p99, ms", of: (it) => it.halfLoad.latencyMs.p99 },
  { name: "at S/2: sent to first byte p50, ms", of: (it) => it.arrival.sentToArrivalMs.p50 },
  { name: "   p99, ms", of: (it) => it.arrival.sentToArrivalMs.p99 },
  { name: "RSS after the pipeline, MiB", of: (it) => it.sustained.rssMiB },
  { name: "idle, % of a core", of: (it) => it.idlePercent },
  { name: "kill -9: ready again, s", of: (it) => it.crash.startS },
  { name: "   last delivered again, s", of: (it) => it.crash.allAgainS },
  { name: "rebuild of all views, records/s", of: (it) => it.growth.at(-1)?.rebuiltPerS ?? null },
  { name: "events page p95, ms", of: (it) => it.growth.at(-1)?.console.pageMs.p95 ?? null },
];

const nameOf = ({ engines: { log, views } }: Measured): string => `${log}, ${views}`;

export const comparison = (first: Measured, second: Measured): string =>
  table(
    ["figure", nameOf(first), nameOf(second), "ratio"],
    FIGURES.flatMap(({ name, of }) => {
      const [a, b] = [of(first), of(second)];
      return a === null || b === null ? [] : [[name, amount(a), amount(b), a === 0 ? "" : `${amount(b / a)} x`]];
    }),
  );
