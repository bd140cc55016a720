import { suite } from "uvu";
import * as assert from "uvu/assert";
import { pollLoop } from "../../../src/following/poll-loop.ts";
import { until } from "../../support/program.ts";

const test = suite("a loop of looks");

/** After more than these looks a loop that finds nothing looks more rarely. */
const QUIET_LOOKS = 30;

test("a loop that found nothing for long hears appends until it is stopped, and goes on looking", async () => {
  let looks = 0;
  let append = (): void => undefined;
  let isHeard = false;
  const log = {
    onAppended(wake: () => void) {
      append = wake;
      isHeard = true;
      return () => {
        isHeard = false;
      };
    },
  };
  const look = async (): Promise<boolean> => {
    looks += 1;
    return false;
  };
  const loop = pollLoop(look, { everyMs: 1, onError: (error) => assert.unreachable(String(error)), log });
  loop.start();
  await until("many looks", () => looks > 2 * QUIET_LOOKS);
  const before = looks;
  append();
  await until("the look after an append", () => looks > before);
  await loop.stop();
  assert.is(isHeard, false);
});

test("looks go on after one that failed", async () => {
  const errors: unknown[] = [];
  let looks = 0;
  const look = async (): Promise<void> => {
    looks += 1;
    if (looks === 1) throw new Error("the first");
  };
  const loop = pollLoop(look, { everyMs: 1, onError: (error) => errors.push(error) });
  loop.start();
  await until("many looks", () => looks > 50);
  await loop.stop();
  assert.is(errors.length, 1);
});

test.run();
