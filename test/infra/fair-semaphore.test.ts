import { suite } from "uvu";
import * as assert from "uvu/assert";
import { fairSemaphore } from "../../infra/fair-semaphore.ts";

const test = suite("a window of places");
/** Longer than any of these tests takes; what still waits at the end keeps the process for as long. */
const LONG_MS = 5_000;
const WAIT_MS = 5;

test("an account with many requests leaves places to other accounts, which do not wait", async () => {
  const window = fairSemaphore(8);
  const inside: string[] = [];
  for (let n = 0; n < 100; n += 1) void window.enter("attacker", LONG_MS).then(() => inside.push("attacker"));
  await Promise.resolve();
  assert.is(inside.length, 4);
  assert.is(await window.enter("victim", LONG_MS), true);
});

test("waiting accounts take turns", async () => {
  const window = fairSemaphore(2);
  const entered: string[] = [];
  const enter = async (party: string): Promise<void> => {
    await window.enter(party, LONG_MS);
    entered.push(party);
    window.leave(party);
  };
  await window.enter("first", LONG_MS);
  const all = ["a", "a", "a", "b", "c"].map(enter);
  window.leave("first");
  await Promise.all(all);
  assert.equal(entered, ["a", "b", "c", "a", "a"]);
});

test("a caller that waited too long is refused and takes no place later", async () => {
  const window = fairSemaphore(2);
  await window.enter("a", LONG_MS);
  assert.is(await window.enter("a", WAIT_MS), false);
  window.leave("a");
  assert.is(await window.enter("b", WAIT_MS), true);
});

test.run();
