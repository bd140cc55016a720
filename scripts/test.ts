/** Runs all test files, several in one process where possible, and prints durations and a summary. */
import { readdirSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join, relative } from "node:path";
import { filesToRunAgain } from "./test/again.ts";
import { groupsOf } from "./test/groups.ts";
import { longestFirst, readSeconds, writeSeconds } from "./test/order.ts";
import { endAll, type Outcome, runFile, runTogether } from "./test/run-file.ts";

const ROOT = new URL("../test/", import.meta.url).pathname;
/** Seconds of each test file on two cores, by which the first run in a clone is ordered. */
const SLOW = new URL("../../test/slow-files.json", import.meta.url).pathname;
/** Seconds of each test file in the last run, kept in build/, which is not versioned. */
const SECONDS = new URL("../test-seconds.json", import.meta.url).pathname;
/** Processes at once. Most files wait for retries and polls, but some run whole programs and would slow each other. */
const AT_ONCE = Math.min(2 * availableParallelism(), 8);

const wanted = process.argv.slice(2);
const files = readdirSync(ROOT, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".test.js"))
  .filter((file) => wanted.length === 0 || wanted.some((part) => file.includes(part)));
const known = { ...readSeconds(SLOW), ...readSeconds(SECONDS) };
const groups = groupsOf(files.map((name) => ({ name, text: readFileSync(join(ROOT, name), "utf8") })));
const queue = [...longestFirst(groups, known)];
const outcomes = new Map<string, Outcome>();

const report = (file: string, { passed, failed, skipped, seconds, output }: Outcome): void => {
  const mark = failed > 0 ? "FAILED" : "ok";
  const counts = `${passed} passed${skipped > 0 ? `, ${skipped} skipped` : ""}`;
  console.log(`${mark.padEnd(6)} ${seconds.toFixed(1).padStart(6)} s  ${file} (${counts})`);
  for (const line of output.split("\n")) if (line.includes("SKIPPED:")) console.log(`       ${line.trim()}`);
  if (failed > 0) console.log(output);
};

const finish = (file: string, outcome: Outcome): void => {
  outcomes.set(file, outcome);
  report(file, outcome);
};

/** Prints the closing line, and sets the exit code by it. `more` failures belong to no file that has ended. */
const conclude = (more: number): void => {
  const sum = (of: "passed" | "failed" | "skipped"): number =>
    [...outcomes.values()].reduce((total, outcome) => total + outcome[of], 0);
  const failed = sum("failed") + more;
  console.log(`\n${sum("passed")} passed, ${failed} failed, ${sum("skipped")} skipped`);
  process.exitCode = failed === 0 ? 0 : 1;
};

/** Groups of files that have begun, with those of each group that have not ended. */
const begun = new Set<readonly string[]>();
const unended = (): readonly string[] => [...begun].flat().filter((file) => !outcomes.has(file));

/** Whoever ends the run, as CI does at its limit, learns what it waited for. */
const breakOff = (signal: NodeJS.Signals): void => {
  endAll();
  console.log(`\n${signal}: these files had not ended: ${unended().join(", ")}`);
  conclude(1);
  process.exit();
};
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.once(signal, breakOff);

const worker = async (): Promise<void> => {
  for (let group = queue.shift(); group !== undefined; group = queue.shift()) {
    const [first] = group;
    begun.add(group);
    if (group.length === 1 && first !== undefined) finish(first, await runFile(join(ROOT, first)));
    else
      await runTogether(
        group.map((file) => join(ROOT, file)),
        (path, outcome) => finish(relative(ROOT, path), outcome),
      );
  }
};
console.log(`${files.length} test files, at most ${AT_ONCE} at once`);
await Promise.all(Array.from({ length: AT_ONCE }, worker));

const unstable: string[] = [];
for (const file of filesToRunAgain(outcomes)) {
  console.log(`\n${file} is run once more, alone`);
  const again = await runFile(join(ROOT, file));
  report(file, again);
  if (again.failed > 0) continue;
  outcomes.set(file, again);
  unstable.push(file);
}

const took = [...outcomes].map(([file, { seconds }]) => [file, Number(seconds.toFixed(1))] as const);
writeSeconds(SECONDS, { ...known, ...Object.fromEntries(took) });
for (const file of unstable)
  console.log(`UNSTABLE: ${file} failed together with other files (see above) and passed alone`);
conclude(files.length === 0 ? 1 : 0);
