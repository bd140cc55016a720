import { readdirSync, readFileSync } from "node:fs";

/** The processor time (user and system) that a process and its descendants had taken at one moment. */
export type ProcessorTime = {
  /** Nanoseconds of each living thread, by its id. */
  readonly threads: ReadonlyMap<number, number>;
  /** Hundredths of a second of all threads, including those that have ended. */
  readonly ticks: number;
};

/**
 * Fields 14 and 15 of /proc/<pid>/stat (proc_pid_stat(5)), numbered from after the name, which may contain blanks and
 * brackets.
 */
const USER_AND_SYSTEM = [11, 12] as const;
/** USER_HZ: /proc on every Linux counts time in hundredths of a second. */
const NS_A_TICK = 10_000_000;
/** Of a difference of two counts, user and system time may each be too large by nearly one tick. */
const TICKS_TOO_MANY = 2;
const NS_A_MS = 1_000_000;

/** The first field of /proc/<pid>/task/<tid>/schedstat: nanoseconds on a processor (Linux, sched-stats.rst). */
export const nsOfSchedstat = (text: string): number => Number(text.split(" ", 1)[0]);

export const ticksOfStat = (text: string): number => {
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return USER_AND_SYSTEM.reduce((sum, at) => sum + Number(fields[at]), 0);
};

/** Null if the file is gone, as those of a thread that has just ended, or on a system without it. */
const contentsOf = (path: string): string | null => {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
};

const threadsOf = (pid: number): readonly number[] => {
  try {
    return readdirSync(`/proc/${pid}/task`).map(Number);
  } catch {
    return [];
  }
};

const numbersIn = (text: string | null): readonly number[] => text?.match(/\d+/g)?.map(Number) ?? [];

/** The process and all that it has started. */
export const withDescendants = (pid: number): readonly number[] => {
  const children = threadsOf(pid).flatMap((thread) => numbersIn(contentsOf(`/proc/${pid}/task/${thread}/children`)));
  return [pid, ...children.flatMap(withDescendants)];
};

/** Null on a system without /proc. */
const processorTimeOf = (pid: number): ProcessorTime | null => {
  const threads = new Map<number, number>();
  let ticks = 0;
  for (const id of withDescendants(pid)) {
    const stat = contentsOf(`/proc/${id}/stat`);
    if (stat === null) continue;
    ticks += ticksOfStat(stat);
    for (const thread of threadsOf(id)) {
      const schedstat = contentsOf(`/proc/${id}/task/${thread}/schedstat`);
      if (schedstat !== null) threads.set(thread, nsOfSchedstat(schedstat));
    }
  }
  return ticks === 0 && threads.size === 0 ? null : { threads, ticks };
};

/**
 * Milliseconds between two moments. The nanoseconds of the threads miss what a thread took that has ended meanwhile;
 * the ticks miss nothing but are coarse. Neither exceeds the true time once the ticks' error is taken off, so the
 * larger of both is used.
 */
export const spentMs = (before: ProcessorTime, after: ProcessorTime): number => {
  let ofThreads = 0;
  for (const [thread, ns] of after.threads) ofThreads += Math.max(0, ns - (before.threads.get(thread) ?? 0));
  const ofTicks = (after.ticks - before.ticks - TICKS_TOO_MANY) * NS_A_TICK;
  return Math.max(0, ofThreads, ofTicks) / NS_A_MS;
};

/** Runs `work` and resolves with its result and the processor time (ms) of `pid` meanwhile; null if it is not known. */
export const processorTimeOfWork = async <T>(
  pid: number,
  work: () => Promise<T>,
): Promise<{ readonly result: T; readonly ms: number | null }> => {
  const before = processorTimeOf(pid);
  const result = await work();
  const after = processorTimeOf(pid);
  return { result, ms: before === null || after === null ? null : spentMs(before, after) };
};
