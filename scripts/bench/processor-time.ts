import { readFileSync } from "node:fs";

/**
 * Fields 14 and 15 of /proc/<pid>/stat (proc_pid_stat(5)), numbered from after the name, which may contain blanks and
 * brackets.
 */
const USER_AND_SYSTEM = [11, 12] as const;
/** USER_HZ: /proc on every Linux counts time in hundredths of a second. */
const TICKS_A_SECOND = 100;

/** Processor time of all threads of a process, in seconds; null on a system without /proc. */
export const processorSeconds = (pid: number): number | null => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return USER_AND_SYSTEM.reduce((sum, at) => sum + Number(fields[at]), 0) / TICKS_A_SECOND;
  } catch {
    return null;
  }
};
