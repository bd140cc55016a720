import { comparison } from "./comparison.ts";
import { growthRows, growthTable } from "./growth-report.ts";
import type { Measured } from "./measured.ts";
import { processorTable } from "./processor-report.ts";
import { amount, atLeast, atMost, figures, milliseconds, type Row } from "./table.ts";

export type Report = {
  readonly at: string;
  readonly node: string;
  readonly cores: number;
  /** The machine's load averages of one minute, at the start and at the end of the benchmark. */
  readonly loadAverage: readonly [number, number];
  readonly measured: readonly Measured[];
};

/**
 * The targets. Those of rates, and of latencies at half load, are the best figures of other gateways without gates or
 * better, measured on 2 cores with `CONNECTIONS` connections.
 */
const BARS = {
  admissionOfFloor: 0.6,
  unfoldedOfFloor: 0.8,
  sustainedOfAdmission: 0.6,
  admittedPerS: 1_363,
  deliveredPerS: 1_359,
  admissionP50Ms: 2.6,
  admissionP99Ms: 10,
  arrivalP50Ms: 3.3,
  arrivalP99Ms: 16.1,
  usualP50Ms: 2,
  usualP99Ms: 12,
  idlePercent: 0.3,
  startAfterNodeS: 1,
  rssMiB: 320,
} as const;

/** A load generator that takes nearly a whole core measures itself. */
const LOAD_SHARE_MAX = 0.9;
const generator = (share: number): string =>
  `${amount(share * 100)} % of a core${share > LOAD_SHARE_MAX ? ": the generator is the limit" : ""}`;

const rows = (measured: Measured): Row[] => {
  const { engines, echo, keptPerS, floorPerS, admission, sustained, halfLoad, arrival, idlePercent, crash } = measured;
  const { usualArrival: usual, split } = measured;
  return [
    { name: "E  bare Fastify echo", value: `${amount(echo.perS)}/s` },
    { name: "   load generator meanwhile", value: generator(echo.loadCpuShare) },
    { name: `I  bare appends of both records, ${engines.log}`, value: `${amount(keptPerS)}/s` },
    { name: "F  floor, 1/(1/E + 1/I)", value: `${amount(floorPerS)}/s` },
    atLeast("A  admitted, all gates, closed loop", admission.perS, BARS.admittedPerS, "/s"),
    { name: "   p50 / p95 / p99", value: milliseconds(admission.latencyMs) },
    { name: "   load generator meanwhile", value: generator(admission.loadCpuShare) },
    atLeast("A/F", admission.perS / floorPerS, BARS.admissionOfFloor),
    {
      name: "A with the projector stopped",
      value: `${amount(split.unfolded.perS)}/s`,
    },
    atLeast("   A/F with the projector stopped", split.unfolded.perS / floorPerS, BARS.unfoldedOfFloor),
    atLeast("S  admitted, delivered, visible", sustained.perS, BARS.deliveredPerS, "/s"),
    {
      name: "   lag of the views, most / at the end",
      value: `${amount(sustained.lagSMax)} / ${amount(sustained.lagSAtEnd)} s`,
    },
    { name: "   drained after", value: `${amount(sustained.drainS)} s` },
    { name: "   delivered (more than once)", value: `${sustained.delivered} (${sustained.repeated})` },
    atLeast("S/A", sustained.perS / admission.perS, BARS.sustainedOfAdmission),
    { name: `at A/2 (${amount(halfLoad.rate)}/s): p50 / p95 / p99`, value: milliseconds(halfLoad.latencyMs) },
    atMost("   admission p50", halfLoad.latencyMs.p50, BARS.admissionP50Ms, "ms"),
    atMost("   admission p99", halfLoad.latencyMs.p99, BARS.admissionP99Ms, "ms"),
    { name: `at S/2 (${amount(arrival.rate)}/s): admission`, value: milliseconds(arrival.admissionMs) },
    { name: "   sent to first byte at the receiver", value: milliseconds(arrival.sentToArrivalMs) },
    atMost("   sent to first byte p50", arrival.sentToArrivalMs.p50, BARS.arrivalP50Ms, "ms"),
    atMost("   sent to first byte p99", arrival.sentToArrivalMs.p99, BARS.arrivalP99Ms, "ms"),
    { name: "   admitted to first byte", value: milliseconds(arrival.admittedToArrivalMs) },
    { name: `at ${amount(usual.rate)}/s: sent to first byte`, value: milliseconds(usual.sentToArrivalMs) },
    atMost("   sent to first byte p50", usual.sentToArrivalMs.p50, BARS.usualP50Ms, "ms"),
    atMost("   sent to first byte p99", usual.sentToArrivalMs.p99, BARS.usualP99Ms, "ms"),
    atMost("RSS after the pipeline", sustained.rssMiB, BARS.rssMiB, "MiB"),
    ...(idlePercent === null ? [] : [atMost("idle", idlePercent, BARS.idlePercent, "% of a core")]),
    { name: `kill -9, ${crash.inFlight} in flight: ready again`, value: `${amount(crash.startS)} s` },
    atMost("   without Node's own start", crash.startS - crash.nodeS, BARS.startAfterNodeS, "s"),
    { name: "   first / last delivered again", value: `${amount(crash.firstAgainS)} / ${amount(crash.allAgainS)} s` },
  ];
};

const enginesLine = ({ engines: { log, views, feed }, notes }: Measured): string =>
  [`Engines: log ${log}, views ${views}, feed ${feed}.`, ...notes].join("\n");

const section = (measured: Measured): string[] => {
  const { growth } = measured;
  const table = [enginesLine(measured), figures(rows(measured)), processorTable(measured)].filter(
    (part) => part !== "",
  );
  if (growth.length === 0) return table;
  const compared = growthRows(growth, measured.echo.perS);
  return [...table, growthTable(growth), ...(compared.length === 0 ? [] : [figures(compared)])];
};

export const printed = (report: Report): string => {
  const [before, after] = report.loadAverage.map((value) => value.toFixed(2));
  const [first, second] = report.measured;
  return [
    `Node ${report.node}, ${report.cores} cores, load average ${before} before and ${after} after. Times are p50 / p95 / p99.`,
    ...report.measured.flatMap(section),
    ...(first === undefined || second === undefined ? [] : [comparison(first, second)]),
  ].join("\n\n");
};
