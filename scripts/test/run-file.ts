import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import type { Readable } from "node:stream";
import { stripVTControlCharacters } from "node:util";

/** The slowest file of CI takes half of it. More rounds than there need more: CONTRIBUTING.md. */
const FILE_MINUTES_MAX = Number(process.env.TEST_FILE_MINUTES ?? 12);
/** After its closing line a file may run this long (ms): a failed test's leftover processes would keep it running. */
const ENDING_MS = 20_000;
/** After SIGTERM a file has this long (ms) to end the programs that it has started, before SIGKILL. */
const KILL_MS = 5_000;
/** After a process has ended, what it wrote arrives within this time (ms), even on a busy machine. */
const LAST_WORDS_MS = 5_000;

export type Outcome = {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly seconds: number;
  readonly output: string;
};

const count = (output: string, word: string): number => {
  // Matches uvu's closing lines, one for each suite: "  Total:     3", "  Passed:    3", "  Skipped:   0".
  let sum = 0;
  for (const match of output.matchAll(new RegExp(`^\\s*${word}:\\s+(\\d+)`, "gm"))) sum += Number(match[1]);
  return sum;
};

const CLOSING_LINE = /^ {2}Duration: +\S+ms$/m;
const CLOSING_MAX = 1_000;

const TOGETHER = new URL("together.js", import.meta.url).pathname;

const outcomeOf = (output: string, code: number | null, startedAt: number): Outcome => {
  const plain = stripVTControlCharacters(output);
  const total = count(plain, "Total");
  const passed = count(plain, "Passed");
  const skipped = count(plain, "Skipped");
  const ran = code === 0 && total + skipped > 0;
  // uvu ends a suite silently with exit code 0 if an `after.each` throws after a failed test.
  const failed = Math.max(total - passed, ran ? 0 : 1);
  return { passed, skipped, failed, seconds: (performance.now() - startedAt) / 1_000, output: plain };
};

/** The processes that run now. */
const children = new Set<ChildProcess>();

/** Each process leads a group, so that what it has started can be ended with it. */
const endGroup = ({ pid }: ChildProcess, signal: NodeJS.Signals): void => {
  try {
    if (pid !== undefined) process.kill(-pid, signal);
  } catch {
    // Nothing of the group is left.
  }
};

export const endAll = (): void => {
  for (const child of children) endGroup(child, "SIGKILL");
};

type Ended = (code: number | null, signal: NodeJS.Signals | null) => void;

/** Calls `ended` once, also if a program that the process has started outlives it and keeps its outputs open. */
const nodeWith = (args: readonly string[], ended: Ended): ChildProcess & { stdout: Readable; stderr: Readable } => {
  const child = spawn(process.execPath, ["--enable-source-maps", ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  children.add(child);
  child.on("exit", () => {
    endGroup(child, "SIGKILL");
    const timer = setTimeout(() => {
      child.stdout.destroy();
      child.stderr.destroy();
    }, LAST_WORDS_MS);
    child.on("close", () => clearTimeout(timer));
  });
  child.on("close", (code, signal) => {
    children.delete(child);
    ended(code, signal);
  });
  return child;
};

/** Ends a process that is too slow, first with SIGTERM and then with SIGKILL, and notes why. */
const limits = (child: ChildProcess, note: (line: string) => void) => {
  const timers: NodeJS.Timeout[] = [];
  return {
    endAfter(ms: number, why: string): void {
      const end = (signal: NodeJS.Signals) => (): void => {
        note(`\n${signal}: ${why}\n`);
        child.kill(signal);
      };
      timers.push(setTimeout(end("SIGTERM"), ms), setTimeout(end("SIGKILL"), ms + KILL_MS));
    },
    clear: (): void => timers.splice(0).forEach(clearTimeout),
  };
};

const TOO_LONG = `it took longer than ${FILE_MINUTES_MAX} minutes`;

export const runFile = (path: string): Promise<Outcome> =>
  new Promise((resolve) => {
    const startedAt = performance.now();
    let output = "";
    const child = nodeWith([path], (code) => {
      clear();
      resolve(outcomeOf(output, code, startedAt));
    });
    const { endAfter, clear } = limits(child, (line) => (output += line));
    endAfter(FILE_MINUTES_MAX * 60_000, TOO_LONG);
    let hasClosed = false;
    const read = (chunk: Buffer): void => {
      output += chunk.toString();
      if (hasClosed || !CLOSING_LINE.test(output.slice(-CLOSING_MAX))) return;
      hasClosed = true;
      endAfter(ENDING_MS, "its tests are over, and something that they have started is not");
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
  });

type Report = (path: string, outcome: Outcome) => void;

/** Resolves with the number of files that ran. The last of these files may have ended the process. */
const runUntilEnd = (paths: readonly string[], report: Report, endingMs: number): Promise<number> =>
  new Promise((resolve) => {
    const mark = `end of file ${randomUUID()}`;
    const ending = new RegExp(`\\n${mark} (\\d+)\\n`);
    let done = 0;
    let startedAt = performance.now();
    const unread = { stdout: "", stderr: "" };
    let notes = "";
    const child = nodeWith([TOGETHER, mark, String(endingMs), ...paths], (code, signal) => {
      clear();
      // There is a signal instead of an exit code if a signal ended the process.
      const why = signal === null ? `the process ended with ${code}` : `${signal} ended the process`;
      finish(`${unread.stdout}${unread.stderr}${notes}\n${why} while the file ran\n`, code === 0 ? 1 : code);
      resolve(done);
    });
    const { endAfter, clear } = limits(child, (line) => (notes += line));
    const finish = (output: string, code: number | null): void => {
      const path = paths[done];
      if (path === undefined) return;
      done += 1;
      report(path, outcomeOf(output, code, startedAt));
      startedAt = performance.now();
    };
    const next = (): void => {
      clear();
      endAfter(FILE_MINUTES_MAX * 60_000, TOO_LONG);
    };
    const settle = (): void => {
      for (;;) {
        const out = ending.exec(unread.stdout);
        const err = ending.exec(unread.stderr);
        if (out === null || err === null) return;
        const output = unread.stdout.slice(0, out.index) + unread.stderr.slice(0, err.index);
        unread.stdout = unread.stdout.slice(out.index + out[0].length);
        unread.stderr = unread.stderr.slice(err.index + err[0].length);
        finish(output, Number(out[1]));
        next();
      }
    };
    const read = (name: "stdout" | "stderr") => (chunk: Buffer) => {
      unread[name] += chunk.toString();
      settle();
    };
    child.stdout.on("data", read("stdout"));
    child.stderr.on("data", read("stderr"));
    next();
  });

/** Runs files in one process. After a file that ends the process, the rest run in another. */
export const runTogether = async (paths: readonly string[], report: Report, endingMs = ENDING_MS): Promise<void> => {
  for (let rest = paths; rest.length > 0; ) rest = rest.slice(await runUntilEnd(rest, report, endingMs));
};
