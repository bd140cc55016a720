import { openLog } from "../../src/engine/open-engines.ts";
import { measureAdmission, measureLatency } from "./admission.ts";
import { type Records, recordsOf } from "./admission-records.ts";
import type { World } from "./bench-world.ts";
import type { EngineSet } from "./engines.ts";
import { measureEcho, measureKeeping } from "./floor.ts";
import type { Measured } from "./measured.ts";
import { measureArrival, measureSustained } from "./pipeline.ts";
import { measureProcessorCosts, measureSplitRoles } from "./processor-costs.ts";
import { measureCrash, measureIdle } from "./rest.ts";
import { close, logOf, runtimeOf, type Subject, setUp, upToDate } from "./subject.ts";
import { RATES } from "./workloads.ts";

/** How long each measurement takes, in seconds. */
export type Lengths = {
  readonly floor: number;
  readonly admission: number;
  readonly sustained: number;
  readonly open: number;
  /** Of each load whose processor time is measured. */
  readonly light: number;
  readonly idle: number;
  readonly growth: number;
};

const WARM_UP_S = 3;

const recordedBy = async (subject: Subject): Promise<Records> => {
  const { body } = await subject.client.call("GET", "/v1/events?limit=1");
  const log = await openLog(logOf(subject), { readOnly: true });
  try {
    return await recordsOf(log, body.data[0].id);
  } finally {
    await log.close();
  }
};

/** Measures the service on one set of engines; only how it grows is left to others. */
export const measureOne = async (
  world: World,
  set: EngineSet,
  lengths: Lengths,
  say: (text: string) => void,
): Promise<Omit<Measured, "growth">> => {
  let subject = await setUp(world.receiverPort, set);
  try {
    say("warming up");
    await measureAdmission(world, subject, WARM_UP_S);
    const { engines } = await runtimeOf(subject);
    say("E, the bare echo");
    const echo = await measureEcho(world, lengths.floor);
    say("A, admissions");
    const admission = await measureAdmission(world, subject, lengths.admission);
    await upToDate(subject);
    say("admissions at half load");
    const halfLoad = await measureLatency(world, subject, admission.perS / 2, lengths.open);
    say("S, the whole pipeline");
    await measureArrival(world, subject, admission.perS / 4, WARM_UP_S);
    const sustained = await measureSustained(world, subject, lengths.sustained);
    say("deliveries at half load");
    const arrival = await measureArrival(world, subject, sustained.perS / 2, lengths.open);
    const usualArrival = await measureArrival(world, subject, RATES.usual, lengths.open);
    say("processor time at full and light load");
    const costs = await measureProcessorCosts(world, subject, lengths.light);
    say("idle");
    const idlePercent = await measureIdle(subject, lengths.idle);
    say("kill -9");
    const { crash, subject: next } = await measureCrash(world, subject);
    subject = next;
    const records = await recordedBy(subject);
    // The service is stopped, because it would take a share of the machine from what is measured now.
    await subject.program.stop();
    say("I, the bare appends");
    const { perS: keptPerS, processorMs: keptMs } = await measureKeeping(records, lengths.floor, logOf(subject));
    say("the roles in two processes");
    const split = await measureSplitRoles(world, subject, lengths.light);
    const floorPerS = 1 / (1 / echo.perS + 1 / keptPerS);
    const floor = { echo, keptPerS, keptMs, floorPerS };
    const loads = { admission, sustained, halfLoad, arrival, usualArrival, costs, split, idlePercent, crash };
    return { engines, notes: set.notes, ...floor, ...loads };
  } finally {
    await close(subject);
  }
};
