import { suite } from "uvu";
import * as assert from "uvu/assert";
import { Deadlines } from "../../../src/http/deadlines.ts";

const test = suite("deadlines");

const never = new Promise<never>(() => undefined);

test("work that ends in time is answered as it ends, and what takes longer as late", async () => {
  const deadlines = new Deadlines();
  const failing = deadlines.within(60_000, Promise.reject(new Error("lost")), "late");
  assert.is(await failing.catch(({ message }) => message), "lost");
  assert.is(await deadlines.within(60_000, Promise.resolve("done"), "late"), "done");
  assert.equal(await Promise.all([deadlines.within(120, never, "second"), deadlines.within(10, never, "first")]), [
    "second",
    "first",
  ]);
});

test("the shorter of two limits ends first, whichever began first", async () => {
  const deadlines = new Deadlines();
  const ended: string[] = [];
  const note = async (ms: number, name: string): Promise<void> => {
    ended.push(await deadlines.within(ms, never, name));
  };
  await Promise.all([note(300, "long"), note(1, "short"), note(150, "middle")]);
  assert.equal(ended, ["short", "middle", "long"]);
  await note(1, "after a pause");
  assert.is(ended.length, 4);
});

test("nothing keeps the process alive when no work is left", async () => {
  const deadlines = new Deadlines();
  const before = process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
  await Promise.all(Array.from({ length: 1_000 }, () => deadlines.within(60_000, Promise.resolve(1), 2)));
  const during = process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
  assert.ok(during - before <= 1, "one timer for all of them");
  await new Promise((resolve) => setTimeout(resolve, 200));
  assert.ok(process.getActiveResourcesInfo().filter((name) => name === "Timeout").length <= before);
});

test.run();
