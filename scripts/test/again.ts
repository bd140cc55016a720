import type { Outcome } from "./run-file.ts";

/** If more files fail, they have a common cause, and a second run would not help. */
const AGAIN_MAX = 3;
/** A test with random input prints its seed on failure; it may pass next time and still have found a bug. */
const RANDOM = /\bseed\b/i;

/**
 * The files to run again, alone. A file that then passes is reported as unstable: it depends on how busy the machine
 * is, which is a defect of the test or of its subject.
 */
export const filesToRunAgain = (outcomes: ReadonlyMap<string, Outcome>): readonly string[] => {
  const failed = [...outcomes].filter(([, it]) => it.failed > 0);
  if (failed.length > AGAIN_MAX) return [];
  return failed.filter(([, { output }]) => !RANDOM.test(output)).map(([file]) => file);
};
