import { suite } from "uvu";
import * as assert from "uvu/assert";
import { randomness } from "../../../infra/crypto/randomness.ts";
import { memoryEventLog } from "../../../infra/memory/event-log.ts";
import { memoryViewStore } from "../../../infra/memory/view-store.ts";
import { deliveryQueue } from "../../../projections/delivery-queue.ts";
import { Deliverer } from "../../../src/delivery/deliverer.ts";
import { aggregates } from "../../../src/streams/aggregates.ts";
import { payloads } from "../../../src/streams/payloads.ts";
import { enoughBytes } from "../../support/enough-bytes.ts";
import { testClock } from "../../support/http-app.ts";
import { until } from "../../support/until.ts";

const test = suite("deliverer");

/** With nothing to deliver, and a disk that `look` stands before. */
const idle = (look: () => Promise<void>) => {
  const log = memoryEventLog();
  const clock = testClock();
  const store = memoryViewStore([deliveryQueue.schema]);
  const errors: unknown[] = [];
  const nothingIsSent = (): never => {
    throw new Error("there is nothing to send");
  };
  const delivering = new Deliverer({
    allowances: enoughBytes,
    log,
    clock,
    randomness,
    views: {
      ...store,
      page: async (view, query) => {
        await look();
        return store.page(view, query);
      },
    },
    aggregates: aggregates(log, clock),
    payloads: payloads(log, randomness),
    sender: { send: nothingIsSent, close: async () => undefined },
    outbound: { headers: nothingIsSent, shown: nothingIsSent },
    node: "node_1",
    othersAreGone: true,
    onError: (error) => errors.push(error),
  });
  return { delivering, clock, errors };
};

test("a deliverer is healthy from its start while its looks at the disk succeed", async () => {
  let looks = 0;
  const { delivering, clock } = idle(async () => {
    looks += 1;
  });
  assert.is(delivering.healthy(), false, "not started");
  delivering.start();
  assert.is(delivering.healthy(), true);
  clock.advance(29_999);
  await until("it has looked", () => looks > 0);
  clock.advance(29_999);
  assert.is(delivering.healthy(), true);
  await delivering.stop(1_000);
});

test("a look that fails makes the deliverer unhealthy until one succeeds", async () => {
  let broken = true;
  const { delivering, errors } = idle(async () => {
    if (broken) throw new Error("no disk");
  });
  delivering.start();
  await until("the look failed", () => errors.length > 0);
  assert.is(delivering.healthy(), false);
  broken = false;
  delivering.wake();
  await until("a look went well", () => delivering.healthy());
  await delivering.stop(1_000);
});

test("a look that never ends makes the deliverer unhealthy after half a minute", async () => {
  let looking = false;
  const { delivering, clock } = idle(() => {
    looking = true;
    return new Promise(() => undefined);
  });
  delivering.start();
  await until("it looks", () => looking);
  clock.advance(29_999);
  assert.is(delivering.healthy(), true);
  clock.advance(1);
  assert.is(delivering.healthy(), false);
  await delivering.stop(0);
});

test.run();
