import type { Outcome } from "./run-file.ts";

/** More files than these fail for a reason that a second run does not take away. */
const AGAIN_MAX = 3;
/** A test with random input says with which seed it failed: it may pass the next time and be right to have failed. */
const RANDOM = /\bseed\b/i;

/**
 * The files that are run once more, alone. What fails beside others and passes alone is reported as unstable: it depends on
 * how busy the machine is, and is a defect to be mended, of the test or of what it tests.
 */
export const filesToRunAgain = (outcomes: ReadonlyMap<string, Outcome>): readonly string[] => {
  const failed = [...outcomes].filter(([, it]) => it.failed > 0);
  if (failed.length > AGAIN_MAX) return [];
  return failed.filter(([, { output }]) => !RANDOM.test(output)).map(([file]) => file);
};
