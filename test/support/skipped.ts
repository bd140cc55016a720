import { suite, type Test } from "uvu";

/** A line that the runner repeats in its report. By itself it counts nothing: part of a test was left out. */
export const printSkipped = (what: string, why: string): void => console.log(`SKIPPED: ${what}: ${why}`);

/** Tests that this machine cannot run are named in the report, and count as one skipped test. */
export const skipped = (what: string, why: string): void => {
  printSkipped(what, why);
  const test = suite(what);
  test.skip(what);
  test.run();
};

/** Adds a test to a suite if this machine can run it, and skips it by name otherwise. */
export const testWhere = <T>(
  test: Test<T>,
  canRun: boolean,
  why: string,
  name: string,
  body: (context: T) => Promise<void> | void,
): void => {
  if (canRun) {
    test(name, body);
    return;
  }
  printSkipped(name, why);
  test.skip(name, body);
};
