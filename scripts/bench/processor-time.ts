import { readFileSync } from "node:fs";

/**
 * Fields 14 and 15 of /proc/<pid>/stat (proc_pid_stat(5)), counted after the name, which may contain blanks and
 * brackets.
 */
const USER_AND_SYSTEM = [11, 12] as const;
/** USER_HZ, the unit of /proc on every Linux. */
const TICKS_A_SECOND = 100;

/** Of all threads; null without /proc. */
export const processorSeconds = (pid: number): number | null => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return USER_AND_SYSTEM.reduce((sum, at) => sum + Number(fields[at]), 0) / TICKS_A_SECOND;
  } catch {
    return null;
  }
};
