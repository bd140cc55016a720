/** `main|worker`: prints how many times larger its old generation was at most than what was alive in it. */
import { getHeapSpaceStatistics } from "node:v8";
import { isMainThread, parentPort, Worker } from "node:worker_threads";
import { limitHeapGrowth } from "../../../src/threads/garbage-collection.ts";

const OBJECTS = 600_000;
const ROUNDS = 8;

const oldUsed = (): number =>
  getHeapSpaceStatistics().find(({ space_name }) => space_name === "old_space")?.space_used_size ?? Number.NaN;

/** Each object survives young collections and is then replaced, so that only full collections free it. */
const growth = (): number => {
  const alive = new Array<object>(OBJECTS);
  let most = 0;
  for (let i = 0; i < ROUNDS * OBJECTS; i += 1) {
    alive[i % OBJECTS] = { i, text: `object ${i}`, more: [i] };
    if (i % 10_000 === 0) most = Math.max(most, oldUsed());
  }
  gc?.();
  const left = oldUsed();
  // Without this use the objects would be garbage already.
  return alive[0] === undefined ? Number.NaN : most / left;
};

if (isMainThread) {
  limitHeapGrowth();
  if (process.argv[2] === "main") console.log(growth());
  else new Worker(new URL(import.meta.url)).once("message", (times) => console.log(times));
} else parentPort?.postMessage(growth());
