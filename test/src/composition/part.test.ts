import { suite } from "uvu";
import * as assert from "uvu/assert";
import { type Consequence, type Part, parts, timer } from "../../../src/composition/part.ts";
import { until } from "../../support/until.ts";

const test = suite("the parts of the program");

const recorded = () => {
  const calls: string[] = [];
  const part = (name: string, rest: Partial<Part> = {}): Part => ({
    name,
    role: null,
    start: () => void calls.push(`start ${name}`),
    stop: (graceMs) => void calls.push(`stop ${name} ${graceMs}`),
    ...rest,
  });
  return { calls, part };
};

test("they are started in order and stopped in reverse", async () => {
  const { calls, part } = recorded();
  const all = parts([part("log"), part("deliverer")], []);
  all.start();
  await all.stop(5);
  assert.equal(calls, ["start log", "start deliverer", "stop deliverer 5", "stop log 5"]);
});

test("a part of another role is not started, and what it holds is closed all the same", async () => {
  const { calls, part } = recorded();
  const all = parts([part("log"), part("deliverer", { role: "deliverer" })], ["api"]);
  all.start();
  await all.stop(0);
  assert.equal(calls, ["start log", "stop deliverer 0", "stop log 0"]);
});

test("the health of a part is found by what its failure means", async () => {
  const { part } = recorded();
  const health = (consequence: Consequence, isHealthy = true) => ({ health: { consequence, check: () => isHealthy } });
  const all = parts(
    [
      part("log", health("unready")),
      part("feed", health("degraded", false)),
      part("traces", health("informational")),
      part("deliverer", { role: "deliverer", ...health("unready") }),
      part("sender"),
    ],
    ["api"],
  );
  assert.equal(Object.keys(all.checks("unready")), ["log"]);
  assert.equal(Object.keys(all.checks("degraded", "informational")), ["feed", "traces"]);
  assert.is(await all.checks("degraded").feed?.(), false);
});

test("a timer runs one turn at a time, and its stop waits for the turn that still runs", async () => {
  const calls: string[] = [];
  const work = async (isStopping: () => boolean): Promise<void> => {
    calls.push("begin");
    await until("the timer is stopped", async () => isStopping());
    calls.push("end");
  };
  const part = timer({ name: "sweep", role: null, ms: 1 }, work, (error) => assert.unreachable(String(error)));
  part.start?.();
  await until("a turn has begun", async () => calls.length > 0);
  await part.stop?.(0);
  assert.equal(calls, ["begin", "end"]);
});

test.run();
