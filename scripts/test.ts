/** Runs every test file in a process of its own, prints how long each took, and sums up. */
import { readdirSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { longestFirst, readSeconds, writeSeconds } from "./test/order.ts";
import { type Outcome, runFile } from "./test/run-file.ts";

const ROOT = new URL("../test/", import.meta.url).pathname;
/** In build/, which is not versioned: the durations of the last run order the next one. */
const SECONDS = new URL("../test-seconds.json", import.meta.url).pathname;
/** Many files wait most of their time, for retries and polls; whole programs run in others, so that more would only slow each other. */
const AT_ONCE = Math.min(2 * availableParallelism(), 8);

const wanted = process.argv.slice(2);
const files = readdirSync(ROOT, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".test.js"))
  .filter((file) => wanted.length === 0 || wanted.some((part) => file.includes(part)));
const known = readSeconds(SECONDS);
const queue = [
  ...longestFirst(
    files.map((name) => ({ name, text: readFileSync(join(ROOT, name), "utf8") })),
    known,
  ),
];
const outcomes = new Map<string, Outcome>();

const report = (file: string, { passed, failed, skipped, seconds, output }: Outcome): void => {
  const mark = failed > 0 ? "FAILED" : "ok";
  const counts = `${passed} passed${skipped > 0 ? `, ${skipped} skipped` : ""}`;
  console.log(`${mark.padEnd(6)} ${seconds.toFixed(1).padStart(6)} s  ${file} (${counts})`);
  for (const line of output.split("\n")) if (line.includes("SKIPPED:")) console.log(`       ${line.trim()}`);
  if (failed > 0) console.log(output);
};

const worker = async (): Promise<void> => {
  for (let file = queue.shift(); file !== undefined; file = queue.shift()) {
    const outcome = await runFile(join(ROOT, file));
    outcomes.set(file, outcome);
    report(file, outcome);
  }
};
await Promise.all(Array.from({ length: AT_ONCE }, worker));

const took = [...outcomes].map(([file, { seconds }]) => [file, Number(seconds.toFixed(1))] as const);
writeSeconds(SECONDS, { ...known, ...Object.fromEntries(took) });
const sum = (of: "passed" | "failed" | "skipped"): number =>
  [...outcomes.values()].reduce((total, outcome) => total + outcome[of], 0);
const failed = sum("failed") + (files.length === 0 ? 1 : 0);
console.log(`\n${sum("passed")} passed, ${failed} failed, ${sum("skipped")} skipped`);
process.exitCode = failed === 0 ? 0 : 1;
