import { bytesOfBoth } from "./disk.ts";
import type { Growth } from "./growth.ts";
import { amount, atLeast, atMost, milliseconds, type Row, table } from "./table.ts";

/** The targets of the largest log, two of them as multiples of the smallest one's figures. */
const BARS = { admissionFactor: 1.2, consoleFactor: 1.5, startS: 2, rssMiB: 320, rebuiltPerS: 50_000 } as const;
/** A machine whose bare echo (E) answers less often a second has proportionally less to rebuild. */
const REBUILD_ECHO_PER_S = 25_000;

export const rebuildBar = (echoPerS: number): number => BARS.rebuiltPerS * Math.min(1, echoPerS / REBUILD_ECHO_PER_S);

const bytes = (value: number | null): string => (value === null ? "elsewhere" : amount(value));

export const growthTable = (growth: readonly Growth[]): string => {
  const line = (name: string, of: (growth: Growth) => string): string[] => [name, ...growth.map(of)];
  return table(
    ["events in the log", ...growth.map(({ events }) => events.toLocaleString("en-US"))],
    [
      line("records seeded a second", (it) => amount(it.seededPerS)),
      line("rebuild of all views, records a second", (it) => amount(it.rebuiltPerS)),
      line("bytes on disk an event, log + views", ({ bytesPerEvent: it }) => `${bytes(it.log)} + ${bytes(it.views)}`),
      line("bytes on disk an event", ({ bytesPerEvent }) => bytes(bytesOfBoth(bytesPerEvent))),
      line("start to /ready, views to be built", (it) => `${amount(it.firstStartS)} s`),
      line("start to /ready", (it) => `${amount(it.startS)} s`),
      line("admission p50 / p95 / p99", (it) => milliseconds(it.admission.latencyMs)),
      line("events page p50 / p95 / p99", (it) => milliseconds(it.console.pageMs)),
      line("filtered page", (it) => milliseconds(it.console.filteredMs)),
      line("search", (it) => milliseconds(it.console.searchMs)),
      line("one event", (it) => milliseconds(it.console.detailMs)),
      line("RSS after the rebuild", (it) => `${amount(it.rssAfterRebuildMiB)} MiB`),
      line("RSS", (it) => `${amount(it.rssMiB)} MiB`),
    ],
  );
};

export const growthRows = (growth: readonly Growth[], echoPerS: number): Row[] => {
  const [small, large] = [growth.at(0), growth.at(-1)];
  if (small === undefined || large === undefined || small === large) return [];
  const factor = (name: string, bar: number, of: (growth: Growth) => number): Row =>
    atMost(`${name}, largest log by smallest`, of(large) / of(small), bar, "x");
  return [
    factor("admission p99", BARS.admissionFactor, (it) => it.admission.latencyMs.p99),
    factor("events page p95", BARS.consoleFactor, (it) => it.console.pageMs.p95),
    factor("filtered page p95", BARS.consoleFactor, (it) => it.console.filteredMs.p95),
    factor("search p95", BARS.consoleFactor, (it) => it.console.searchMs.p95),
    atLeast("rebuild of all views, records/s", large.rebuiltPerS, rebuildBar(echoPerS), "/s"),
    atMost("start to /ready", large.startS, BARS.startS, "s"),
    atMost("RSS", large.rssMiB, BARS.rssMiB, "MiB"),
  ];
};
