import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { RecordedEvent } from "../../../domain/ports/event-log.ts";
import type { Document } from "../../../domain/ports/view-store.ts";
import { memoryEventLog } from "../../../infra/memory/event-log.ts";
import { memoryViewStore } from "../../../infra/memory/view-store.ts";
import { deliveryQueue } from "../../../projections/delivery-queue.ts";
import { endpoints } from "../../../projections/endpoints.ts";
import type { Projection } from "../../../projections/projection.ts";
import { endpointsReading } from "../../../src/observability/endpoints-reading.ts";
import { partsReading } from "../../../src/observability/parts-reading.ts";
import { queueReading } from "../../../src/observability/queue-reading.ts";
import { foldInto } from "../../support/fold-into.ts";
import {
  appendTo,
  at,
  deliveryFacts,
  endpointRegistered,
  type History,
  history,
  START,
} from "../../support/history.ts";

const test = suite("what is read for metrics");

const NOW = START + 100_000;

const viewsOf = async (projection: Projection, events: readonly RecordedEvent[]) => {
  const views = memoryViewStore([projection.schema]);
  const log = memoryEventLog();
  await appendTo(log, events);
  await foldInto(log, views, [projection]);
  return views;
};

test("each part is read separately, and one that fails or hangs is down", async () => {
  const read = partsReading({
    log: async () => true,
    feed: async () => false,
    views: async () => {
      throw new Error("away");
    },
    projector: () => new Promise(() => undefined),
  });
  assert.equal(await read(), { log: true, feed: false, views: false, projector: false });
});

const admit = (log: History, n: number, endpoint: string, second: number): void => {
  const id = `evt_${n}`;
  const facts = deliveryFacts(id, endpoint);
  log.add(`delivery-${id}`, facts.admitted({ received_at: at(second), at: at(second) }), { at: at(second) });
};

test("the queue's reading has its depth and the age of the oldest event", async () => {
  const log = history();
  admit(log, 1, "end_1", 40);
  admit(log, 2, "end_1", 50);
  admit(log, 3, "end_2", 20);
  const read = queueReading(await viewsOf(deliveryQueue, log.events), { now: () => NOW });
  assert.equal(await read(), { depth: 3, oldestS: 80 });
  const empty = queueReading(await viewsOf(deliveryQueue, []), { now: () => NOW });
  assert.equal(await empty(), { depth: 0, oldestS: 0 });
});

test("endpoints of all accounts are counted by state, once a minute", async () => {
  const log = history();
  for (const n of [1, 2, 3]) log.add(`endpoint-end_${n}`, endpointRegistered(`end_${n}`), { account: `acc_${n}` });
  const store = await viewsOf(endpoints, log.events);
  let looks = 0;
  let now = NOW;
  const views: Pick<typeof store, "page"> = {
    page(view, query) {
      looks += 1;
      return store.page(view, query);
    },
  };
  const read = endpointsReading(views, { now: () => now });
  assert.equal(await read(), { healthy: 3, degraded: 0, open: 0, disabled: 0 });
  await read();
  assert.is(looks, 1);
  now += 60_000;
  await read();
  assert.is(looks, 2);
});

test("endpoints beyond one page are counted, deleted ones are not", async () => {
  const log = history();
  log.add("endpoint-end_1", endpointRegistered());
  const store = await viewsOf(endpoints, log.events);
  const document = await store.get(endpoints.schema.name, "end_1");
  const documents = Array.from({ length: 1_203 }, (_, n) => [
    `end_${n}`,
    { ...document, account: `acc_${n % 7}`, deleted: n % 3 === 0 ? 1 : 0 },
  ]) as [string, Document][];
  const after = await store.position(endpoints.schema.name);
  await store.commit(endpoints.schema.name, after, `${after}1`, { documents: new Map(documents) });
  assert.is((await endpointsReading(store, { now: () => NOW })()).healthy, 802);
});

test.run();
