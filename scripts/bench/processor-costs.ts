import { type ClosedLoop, measureAdmission } from "./admission.ts";
import type { World } from "./bench-world.ts";
import { startService } from "./service-process.ts";
import { type Subject, started, upToDate } from "./subject.ts";
import { ADMISSION, admissionsAt, DELIVERED, deliveredAt, RATES, type Workload } from "./workloads.ts";

/** Milliseconds of processor time for one event under each load; null on a system that does not tell. */
export type LoadCosts = {
  readonly full: number | null;
  readonly at430: number | null;
  readonly at100: number | null;
};

/** Each until the views have folded the event. */
export type ProcessorCosts = { readonly admission: LoadCosts; readonly delivered: LoadCosts };

/** What was measured while other processes had the service's roles. */
export type SplitRoles = {
  /** The closed loop of A while no process folds views. */
  readonly unfolded: ClosedLoop;
  /** Processor time of a process that only folds views, for one delivered event. */
  readonly folded: LoadCosts;
};

const WARM_UP_S = 3;

const costsOf = async (
  measure: (workload: Workload) => Promise<number | null>,
  workloads: Readonly<Record<keyof LoadCosts, Workload>>,
): Promise<LoadCosts> => ({
  full: await measure(workloads.full),
  at430: await measure(workloads.at430),
  at100: await measure(workloads.at100),
});

const ADMISSIONS = { full: ADMISSION, at430: admissionsAt(RATES.usual), at100: admissionsAt(RATES.low) };
const DELIVERIES = { full: DELIVERED, at430: deliveredAt(RATES.usual), at100: deliveredAt(RATES.low) };

export const measureProcessorCosts = async (
  world: World,
  subject: Subject,
  seconds: number,
): Promise<ProcessorCosts> => {
  const measure = async (workload: Workload): Promise<number | null> =>
    (await workload.measure(world, subject, seconds)).processorMs;
  return { admission: await costsOf(measure, ADMISSIONS), delivered: await costsOf(measure, DELIVERIES) };
};

/** The subject is stopped, and is so again afterwards: meanwhile two processes have its roles. */
export const measureSplitRoles = async (world: World, stopped: Subject, seconds: number): Promise<SplitRoles> => {
  const rolesOf = (roles: string) => ({ ...stopped.engines.env, ROLES: roles });
  const subject = await started(stopped, rolesOf("api,deliverer"));
  try {
    await measureAdmission(world, subject, WARM_UP_S);
    const unfolded = await measureAdmission(world, subject, seconds);
    const { engines, program } = subject;
    const projector = await startService({ ...engines, env: rolesOf("projector"), dir: program.dir });
    try {
      await upToDate(subject);
      const measure = async (workload: Workload): Promise<number | null> =>
        (await workload.measure(world, subject, seconds, projector.pid)).processorMs;
      return { unfolded, folded: await costsOf(measure, DELIVERIES) };
    } finally {
      await projector.stop();
    }
  } finally {
    await subject.program.stop();
  }
};
