import { readFileSync } from "node:fs";

/** Fields 14 and 15 of /proc/<pid>/stat (proc_pid_stat(5)) behind the name, which may hold blanks and brackets. */
const USER_AND_SYSTEM = [11, 12] as const;
/** USER_HZ: what /proc counts in, on every Linux. */
const TICKS_A_SECOND = 100;

/** Seconds of processor time, of all its threads, that a process has taken; null where there is no /proc. */
export const processorSeconds = (pid: number): number | null => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return USER_AND_SYSTEM.reduce((sum, at) => sum + Number(fields[at]), 0) / TICKS_A_SECOND;
  } catch {
    return null;
  }
};
