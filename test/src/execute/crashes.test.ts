import { suite } from "uvu";
import * as assert from "uvu/assert";
import { ACCOUNT, type AgentsWorld, agentsWorld, LEDGER, startNode } from "../../support/execute-world.ts";
import { losingLog } from "../../support/losing-log.ts";
import { until } from "../../support/until.ts";

const test = suite("a process that dies between an agent's request and its answer");

const COST = 2_000_000;
const LIMITS = { budget_eur_day: 3, loop: { max_identical: 1, window_s: 60, max_per_run: 1 } } as const;
const RUN = { runId: "run-1" };
/** More appends than a request takes. */
const STEPS_MAX = 40;

/** Done once, paid once, said once. */
const onceIsOnce = async (world: AgentsWorld, step: string): Promise<void> => {
  const count = async (type: string) => (await world.ofType(type)).length;
  assert.is(await count("EventAdmitted"), 1, step);
  assert.is(await count("EventDelivered"), 1, step);
  assert.is(new Set(world.target.arrivals.map(({ id }) => id)).size, 1, `one webhook-id: ${step}`);
  const settled = (await world.ofType("Settled")).filter(({ stream }) => stream === LEDGER);
  assert.is(settled.length, 1, `settled once: ${step}`);
};

for (const side of ["before", "behind"] as const) {
  test(`a process that dies ${side} any append leaves the repeat one answer, one effect and one charge`, async () => {
    const steps: string[] = [];
    for (let nth = 1; nth <= STEPS_MAX; nth += 1) {
      const world = await agentsWorld(LIMITS);
      const mortal = losingLog(world.log, nth, side);
      const first = await startNode(world, { log: mortal.log, isAlone: true, onError: () => undefined });
      const asked = first.execute("key-1", RUN).catch(() => null);
      let isAnswered = false;
      void asked.then(() => {
        isAnswered = true;
      });
      await until("it is answered, or the process is gone", async () => {
        if (mortal.died() !== null) return true;
        return (
          isAnswered &&
          (await world.ofType("Settled")).length === 3 &&
          (await world.ofType("ReactorCheckpointed")).length > 0
        );
      });
      const step = `${nth} ${mortal.died() ?? "done"}`;
      steps.push(mortal.died() ?? "done");
      await first.stop();
      const second = await startNode(world, { isAlone: true });
      const again = await second.execute("key-1", RUN);
      assert.equal([again.status, again.body.status], [200, "delivered"], step);
      assert.equal(again.body.result, { status_code: 200, body: { refund: "r-1" } }, step);
      await until(`the ledger is settled: ${step}`, async () => {
        const { reserved, settled } = await second.ledgers.figures(LEDGER, ACCOUNT);
        return reserved === 0 && settled === COST;
      });
      await onceIsOnce(world, step);
      // The limits know of one request.
      assert.is(
        (await second.execute("key-2", { ...RUN, payload: { order: 2 }, costMicro: 0 })).status,
        "gate-budget",
        step,
      );
      await second.stop();
      if (mortal.died() === null) break;
    }
    assert.is(steps.at(-1), "done");
    for (const step of ["PayloadKept", "Reserved", "EventAdmitted", "AttemptStarted", "ResponseKept", "Settled"])
      assert.ok(
        steps.some((it) => it.includes(step)),
        `${step} is among ${steps.join(", ")}`,
      );
    assert.ok(steps.includes("AttemptSucceeded+EventDelivered+CostDetermined"), steps.join(", "));
  });
}

test.run();
