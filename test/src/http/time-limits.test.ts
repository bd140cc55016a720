import { suite } from "uvu";
import * as assert from "uvu/assert";
import { TimeLimits } from "../../../src/http/time-limits.ts";

const test = suite("time limits");

const never = new Promise<never>(() => undefined);

test("work that ends in time is answered as it ends, and what takes longer as late", async () => {
  const limits = new TimeLimits();
  const failing = Promise.resolve(limits.within(60_000, Promise.reject(new Error("lost")), "late"));
  assert.is(await failing.catch(({ message }) => message), "lost");
  assert.is(await limits.within(60_000, Promise.resolve("done"), "late"), "done");
  assert.equal(await Promise.all([limits.within(120, never, "second"), limits.within(10, never, "first")]), [
    "second",
    "first",
  ]);
});

test("the shorter of two limits ends first, whichever began first", async () => {
  const limits = new TimeLimits();
  const ended: string[] = [];
  const note = async (ms: number, name: string): Promise<void> => {
    ended.push(await limits.within(ms, never, name));
  };
  await Promise.all([note(300, "long"), note(1, "short"), note(150, "middle")]);
  assert.equal(ended, ["short", "middle", "long"]);
  await note(1, "after a pause");
  assert.is(ended.length, 4);
});

test("work that ends after its time changes nothing for others", async () => {
  const limits = new TimeLimits();
  let end = (): void => undefined;
  const slow = new Promise<void>((resolve) => {
    end = resolve;
  });
  assert.is(await limits.within(50, slow, "late"), "late");
  const others = [limits.within(50, never, "a"), limits.within(50, never, "b")];
  end();
  assert.equal(await Promise.all(others), ["a", "b"]);
});

test("one timer serves all waits of the same limit, and none keeps the process alive when no work is left", async () => {
  const limits = new TimeLimits();
  const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
  const before = timers();
  const ends: (() => void)[] = [];
  const waits = Array.from({ length: 1_000 }, () =>
    limits.within(60_000, new Promise<void>((resolve) => ends.push(resolve)), 0),
  );
  assert.is(timers(), before + 1);
  for (const end of ends) end();
  await Promise.all(waits);
  assert.is(timers(), before);
});

test.run();
