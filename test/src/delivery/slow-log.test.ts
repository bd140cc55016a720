import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { EventLog } from "../../../domain/ports/event-log.ts";
import { deliverySimulation } from "../../support/delivery-simulation.ts";
import { START } from "../../support/history.ts";

const test = suite("a log that is slow");

const TIMEOUT_MS = 10_000;
/** Of a lease beyond its request. */
const MARGIN_MS = 15_000;

/** Of that, what the clocks of two nodes may differ by. */
const APART_MS = 12_000;

type Options = { readonly isAlone?: boolean; readonly setByMs?: number };

/** When a receiver was sent an event whose first start took that long to be written down, while the clock was set by so much. */
const sentBehind = async (ms: number, { isAlone = true, setByMs = 0 }: Options = {}): Promise<readonly number[]> => {
  const it = await deliverySimulation({ end_1: () => ({ status: 200, ms: 1 }) });
  await it.endpoint("end_1", { timeout_ms: TIMEOUT_MS });
  let isSlow = true;
  const slow = (log: EventLog): EventLog => ({
    ...log,
    async append(stream, expected, events) {
      const appended = await log.append(stream, expected, events);
      if (isSlow && events.some(({ type }) => type === "AttemptStarted")) {
        isSlow = false;
        it.time.jump(ms);
        it.time.set(setByMs);
      }
      return appended;
    },
  });
  const node = it.node("node_1", slow, isAlone);
  node.start();
  await it.admit("evt_1", "end_1", node);
  await it.time.runUntil(START + 60_000);
  await node.stop(0);
  assert.equal([it.errors, it.all("EventDelivered").length], [[], it.sent.length]);
  await it.close();
  return it.sent.map(({ at }) => at - START);
};

test("a request that could outlast its lease is not sent, and is tried again after the lease", async () => {
  assert.equal(await sentBehind(0), [0]);
  assert.equal(await sentBehind(MARGIN_MS), [MARGIN_MS]);
  const [at, ...others] = await sentBehind(MARGIN_MS + 1);
  assert.equal(others, []);
  assert.ok(at !== undefined && at >= TIMEOUT_MS + MARGIN_MS, `at ${at}`);
});

test("between several nodes a lease ends sooner for the sender, by what their clocks may differ", async () => {
  assert.equal(await sentBehind(MARGIN_MS - APART_MS, { isAlone: false }), [MARGIN_MS - APART_MS]);
  const [at] = await sentBehind(MARGIN_MS - APART_MS + 1, { isAlone: false });
  assert.ok(at !== undefined && at >= TIMEOUT_MS + MARGIN_MS, `at ${at}`);
});

test("a clock that is set back while the start is recorded gives the request no more time", async () => {
  assert.equal(await sentBehind(MARGIN_MS + 1, { setByMs: -3_600_000 }), []);
});

test.run();
