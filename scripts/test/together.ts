/**
 * Runs test files one after the other in this process: `node together.js MARK ENDING_MS FILE...`. After each file both outputs
 * get a line of MARK and the file's exit code. What a file has started may take ENDING_MS to end after its last test. The process ends at once where a file has left something behind, or has failed to load:
 * whoever started it goes on with the next file in another process.
 */
import { writeSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [mark = "", endingMs = "", ...files] = process.argv.slice(2);
const LOOK_MS = 5;

const queue: unknown[][] = [];
// With UVU_DEFER, suites wait in UVU_QUEUE until `exec` is called; both are read before uvu is loaded.
Object.assign(globalThis, { UVU_DEFER: true, UVU_QUEUE: queue, UVU_INDEX: 0 });
const { exec } = await import("uvu");

const end = (code: number): void => {
  for (const output of [process.stdout, process.stderr]) output.write(`\n${mark} ${code}\n`);
};

const running = async (): Promise<string> => {
  // In this phase of the event loop no timer of ours is active.
  await new Promise((resolve) => setImmediate(resolve));
  return process.getActiveResourcesInfo().sort().join(", ");
};
// Both are opened when they are first used.
process.stdout.write("");
process.stderr.write("");
const idle = await running();

/** Timers, sockets and the like that the file has started, and that would keep its process from ending. */
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
