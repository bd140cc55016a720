/**
 * Runs test files in this process: `node together.js MARK ENDING_MS FILE...`. After each file it prints a line of MARK
 * with the exit code to both outputs. A file that fails to load, or leaves timers or sockets for ENDING_MS, ends the
 * process, and the caller runs the files after it in another process.
 */
import { writeSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [mark = "", endingMs = "", ...files] = process.argv.slice(2);
const LOOK_MS = 5;

const queue: unknown[][] = [];
// uvu reads these values when it is loaded: with UVU_DEFER, suites wait in UVU_QUEUE for `exec`.
Object.assign(globalThis, { UVU_DEFER: true, UVU_QUEUE: queue, UVU_INDEX: 0 });
const { exec } = await import("uvu");

const end = (code: number): void => {
  for (const output of [process.stdout, process.stderr]) output.write(`\n${mark} ${code}\n`);
};

const running = async (): Promise<string> => {
  // In this phase of the event loop none of this program's own timers is active, so none is taken for a leftover.
  await new Promise((resolve) => setImmediate(resolve));
  return process.getActiveResourcesInfo().sort().join(", ");
};
// The outputs are opened at their first use, and once open they do not count as leftovers.
process.stdout.write("");
process.stderr.write("");
const idle = await running();

/** Timers, sockets and other handles of the file that would keep the process running; null if there are none. */
const leftBehind = async (): Promise<string | null> => {
  const limit = performance.now() + Number(endingMs);
  for (;;) {
    const now = await running();
    if (now === idle) return null;
    if (performance.now() > limit) return now;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
};

for (const file of files) {
  queue.splice(0, queue.length, [null]);
  process.exitCode = 0;
  await import(pathToFileURL(file).href);
  await exec();
  const left = await leftBehind();
  if (left !== null) {
    writeSync(2, `its tests are over, and something that they have started is not: ${left}\n`);
    process.exit(1);
  }
  end(Number(process.exitCode));
}
process.exit(0);
