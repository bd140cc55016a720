import { suite } from "uvu";
import * as assert from "uvu/assert";
import { batched } from "../../infra/batched.ts";

const test = suite("what is asked together");

test("questions are one call, even with settled promises awaited in between", async () => {
  const asked: (readonly number[])[] = [];
  const double = batched(async (numbers: readonly number[]) => {
    asked.push(numbers);
    return new Map(numbers.map((it) => [it, 2 * it]));
  });
  const later = async (): Promise<number | undefined> => {
    for (let turns = 0; turns < 20; turns += 1) await Promise.resolve();
    return (await double(3)).get(3);
  };
  const one = async (it: number): Promise<number | undefined> => (await double(it)).get(it);
  assert.equal(await Promise.all([one(1), one(2), later()]), [2, 4, 6]);
  assert.equal(await one(4), 8);
  assert.equal(asked, [[1, 2, 3], [4]]);
});

test("waits for no answer to a question before it", async () => {
  const resolving: (() => void)[] = [];
  const ask = batched((_: readonly string[]) => new Promise<void>((resolve) => resolving.push(resolve)));
  const first = ask("first");
  await new Promise((resolve) => setImmediate(resolve));
  const second = ask("second");
  await new Promise((resolve) => setImmediate(resolve));
  assert.is(resolving.length, 2);
  for (const resolve of resolving) resolve();
  await Promise.all([first, second]);
});

test("a failure reaches every caller of that call, and no later one", async () => {
  let isBroken = true;
  const ask = batched(async (questions: readonly string[]) => {
    if (isBroken) throw new Error("broken");
    return questions.length;
  });
  const outcomes = await Promise.allSettled([ask("a"), ask("b")]);
  assert.equal(
    outcomes.map(({ status }) => status),
    ["rejected", "rejected"],
  );
  isBroken = false;
  assert.is(await ask("c"), 1);
});

test.run();
