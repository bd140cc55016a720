import { suite } from "uvu";
import * as assert from "uvu/assert";
import { turns } from "../../../src/bundles/turns.ts";

const test = suite("turns");

/** Work that ends when it is told to. */
const works = () => {
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const work = (name: string) => () =>
    new Promise<string>((resolve) => {
      begun.push(name);
      ends.push(() => resolve(name));
    });
  const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  return {
    begun,
    work,
    settled,
    async endOne() {
      ends.shift()?.();
      await settled();
    },
  };
};

test("the work of a key runs once at a time, and a call shares the result of a waiting call", async () => {
  const it = works();
  const queue = turns(10);
  const first = queue.take("a", it.work("a1"));
  await it.settled();
  const second = queue.take("a", it.work("a2"));
  const third = queue.take("a", it.work("a3"));
  const other = queue.take("b", it.work("b1"));
  await it.settled();
  assert.equal(it.begun, ["a1", "b1"]);
  await it.endOne();
  assert.equal(it.begun, ["a1", "b1", "a2"]);
  await it.endOne();
  await it.endOne();
  assert.equal(await Promise.all([first, second, third, other]), ["a1", "a2", "a2", "b1"]);
});

test("at most so many keys at once, in the order in which they asked", async () => {
  const it = works();
  const queue = turns(2);
  const all = ["a", "b", "c", "d"].map((key) => queue.take(key, it.work(key)));
  await it.settled();
  assert.equal(it.begun, ["a", "b"]);
  await it.endOne();
  assert.equal(it.begun, ["a", "b", "c"]);
  for (let n = 0; n < 3; n += 1) await it.endOne();
  assert.equal(await Promise.all(all), ["a", "b", "c", "d"]);
});

test("one that fails leaves its turn to the next, and its place", async () => {
  const queue = turns(1);
  const failed = queue.take("a", () => Promise.reject(new Error("no")));
  const next = queue.take("b", async () => "b");
  assert.is(await failed.catch((error: Error) => error.message), "no");
  assert.is(await next, "b");
  assert.is(await queue.take("a", async () => "again"), "again");
  await queue.idle();
});

test.run();
