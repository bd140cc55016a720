import { suite } from "uvu";
import * as assert from "uvu/assert";
import { turnsByKey } from "../../infra/turns.ts";

const test = suite("turns by key");

test("the work of one key runs in order, next to that of other keys, and a failure stops nothing", async () => {
  const inTurn = turnsByKey();
  const log: string[] = [];
  const work =
    (name: string, fails = false) =>
    async (): Promise<string> => {
      log.push(`begin ${name}`);
      await new Promise((resolve) => setImmediate(resolve));
      log.push(`end ${name}`);
      if (fails) throw new Error(name);
      return name;
    };
  const first = inTurn("a", work("a1", true));
  const [second, other] = [inTurn("a", work("a2")), inTurn("b", work("b1"))];
  const failure = await first.catch((error: Error) => error.message);
  assert.equal([failure, await second, await other], ["a1", "a2", "b1"]);
  assert.ok(log.indexOf("begin a2") > log.indexOf("end a1"));
  assert.ok(log.indexOf("begin b1") < log.indexOf("end a1"));
});

test.run();
