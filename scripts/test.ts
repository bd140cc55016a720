/** Runs every test file in a process of its own and sums up. A file that ends without a count has run no test: it fails. */
import { spawn } from "node:child_process";
import { readdirSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";

const ROOT = new URL("../test/", import.meta.url).pathname;
/** The crash tests of CI run 100 rounds; anything longer hangs. */
const FILE_MINUTES_MAX = 30;
/** From its closing line to its end: what a failed test has left running would keep its file, and what it has to say, for ever. */
const ENDING_MS = 20_000;
/** A file that is told to end takes the programs with it that it has started. */
const KILL_MS = 5_000;
/** Whole programs are started in some: more files at once than this only get in each other's way. */
const AT_ONCE = Math.min(availableParallelism(), 4);

type Outcome = { readonly file: string; passed: number; failed: number; skipped: number; output: string };

const count = (output: string, word: string): number => {
  // uvu's closing lines, one a suite: "  Total:     3", "  Passed:    3", "  Skipped:   0".
  let sum = 0;
  for (const match of output.matchAll(new RegExp(`^\\s*${word}:\\s+(\\d+)`, "gm"))) sum += Number(match[1]);
  return sum;
};

/** uvu's last line. */
const CLOSING_LINE = /^ {2}Duration: +\S+ms$/m;
const CLOSING_MAX = 1_000;

const run = (file: string): Promise<Outcome> =>
  new Promise((resolve) => {
    const child = spawn(process.execPath, ["--enable-source-maps", join(ROOT, file)], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    const timers: NodeJS.Timeout[] = [];
    const endAfter = (ms: number, why: string): void => {
      const end = (signal: NodeJS.Signals) => (): void => {
        output += `\n${signal}: ${why}\n`;
        child.kill(signal);
      };
      timers.push(setTimeout(end("SIGTERM"), ms), setTimeout(end("SIGKILL"), ms + KILL_MS));
    };
    endAfter(FILE_MINUTES_MAX * 60_000, `it took longer than ${FILE_MINUTES_MAX} minutes`);
    let hasClosed = false;
    const read = (chunk: Buffer): void => {
      output += chunk.toString();
      if (hasClosed || !CLOSING_LINE.test(output.slice(-CLOSING_MAX))) return;
      hasClosed = true;
      endAfter(ENDING_MS, "its tests are over, and something that they have started is not");
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    child.on("close", (code) => {
      for (const timer of timers) clearTimeout(timer);
      const plain = stripVTControlCharacters(output);
      const total = count(plain, "Total");
      const passed = count(plain, "Passed");
      const skipped = count(plain, "Skipped");
      // A file whose tests all need a server that is not there has said so.
      const ran = code === 0 && total + skipped > 0;
      // uvu ends a suite without a word, and with exit code 0, where an `after.each` throws behind a failed test.
      const failed = Math.max(total - passed, ran ? 0 : 1);
      resolve({ file, passed, skipped, failed, output: plain });
    });
  });

const wanted = process.argv.slice(2);
const files = readdirSync(ROOT, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".test.js"))
  .filter((file) => wanted.length === 0 || wanted.some((part) => file.includes(part)))
  .sort();
const queue = [...files];
const outcomes: Outcome[] = [];

const worker = async (): Promise<void> => {
  for (let file = queue.shift(); file !== undefined; file = queue.shift()) {
    const outcome = await run(file);
    outcomes.push(outcome);
    const mark = outcome.failed > 0 ? "FAILED" : "ok";
    console.log(
      `${mark.padEnd(6)} ${file} (${outcome.passed} passed${outcome.skipped > 0 ? `, ${outcome.skipped} skipped` : ""})`,
    );
    for (const line of outcome.output.split("\n")) if (line.includes("SKIPPED:")) console.log(`       ${line.trim()}`);
    if (outcome.failed > 0) console.log(outcome.output);
  }
};
await Promise.all(Array.from({ length: AT_ONCE }, worker));

const sum = (of: "passed" | "failed" | "skipped"): number =>
  outcomes.reduce((total, outcome) => total + outcome[of], 0);
const failed = sum("failed") + (files.length === 0 ? 1 : 0);
console.log(`\n${sum("passed")} passed, ${failed} failed, ${sum("skipped")} skipped`);
process.exitCode = failed === 0 ? 0 : 1;
