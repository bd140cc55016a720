import { spawn } from "node:child_process";
import { stripVTControlCharacters } from "node:util";

/** The crash tests of CI run 100 rounds; anything longer hangs. */
const FILE_MINUTES_MAX = 30;
/** After its closing line. A process that a failed test has left running would keep its file from ending. */
const ENDING_MS = 20_000;
/** A file that is told to end takes the programs with it that it has started. */
const KILL_MS = 5_000;

export type Outcome = {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly seconds: number;
  /** All that the file printed, without colours. */
  readonly output: string;
};

const count = (output: string, word: string): number => {
  // uvu's closing lines, one a suite: "  Total:     3", "  Passed:    3", "  Skipped:   0".
  let sum = 0;
  for (const match of output.matchAll(new RegExp(`^\\s*${word}:\\s+(\\d+)`, "gm"))) sum += Number(match[1]);
  return sum;
};

/** uvu's last line. */
const CLOSING_LINE = /^ {2}Duration: +\S+ms$/m;
const CLOSING_MAX = 1_000;

/** Runs one built test file in a process of its own. A file that neither runs nor skips a test has failed. */
export const runFile = (path: string): Promise<Outcome> =>
  new Promise((resolve) => {
    const startedAt = performance.now();
    const child = spawn(process.execPath, ["--enable-source-maps", path], { stdio: ["ignore", "pipe", "pipe"] });
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
      const ran = code === 0 && total + skipped > 0;
      // uvu ends a suite without a word, and with exit code 0, where an `after.each` throws after a failed test.
      const failed = Math.max(total - passed, ran ? 0 : 1);
      resolve({ passed, skipped, failed, seconds: (performance.now() - startedAt) / 1_000, output: plain });
    });
  });
