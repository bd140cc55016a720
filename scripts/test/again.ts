import type { Outcome } from "./run-file.ts";

/** If more files fail, the failures have a common cause, and a second run would not help. */
const AGAIN_MAX = 3;
/** A failure with random input prints its seed. A second run may pass in spite of a bug, so there is none. */
const RANDOM = /\bseed\b/i;

/**
 * The failed files to run again, each alone. One that then passes is reported as unstable: it depends on how busy the
 * machine is, which is a defect of the test or of its subject.
 */
export const filesToRunAgain = (outcomes: ReadonlyMap<string, Outcome>): readonly string[] => {
  const failed = [...outcomes].filter(([, it]) => it.failed > 0);
  if (failed.length > AGAIN_MAX) return [];
  return failed.filter(([, { output }]) => !RANDOM.test(output)).map(([file]) => file);
};
