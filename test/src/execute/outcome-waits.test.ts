import { suite } from "uvu";
import * as assert from "uvu/assert";
import { delivery } from "../../../domain/delivery/decider.ts";
import type { Delivery } from "../../../domain/delivery/state.ts";
import type { EventLog } from "../../../domain/ports/event-log.ts";
import { memoryEventLog } from "../../../infra/memory/event-log.ts";
import { hasEnded } from "../../../src/execute/answer.ts";
import { outcomes } from "../../../src/execute/outcome-waits.ts";
import { waitingPlaces } from "../../../src/execute/waiting-places.ts";
import type { StreamState } from "../../../src/streams/run-command.ts";
import { appendTo, deliveryFacts, history } from "../../support/history.ts";
import { until } from "../../support/until.ts";

const test = suite("waiting for an outcome");
const fail = (error: unknown): never => {
  throw error;
};

const facts = deliveryFacts();
const records = (() => {
  const it = history();
  for (const fact of [facts.admitted(), facts.started(1, 1), facts.succeeded(1, 2), facts.delivered(2)])
    it.add("delivery-evt_1", fact);
  return it.events;
})();
/** The delivery after so many of its records. */
const knownAt = (count: number): StreamState<Delivery> => ({
  state: records.slice(0, count).reduce((state, event) => delivery.evolve(state, event as never), delivery.initial),
  revision: count - 1,
});
const ADMITTED = knownAt(1);
const ENDED = knownAt(records.length);
const waiting = (waitMs = 5_000, signal = new AbortController().signal, account = "acc_1") => ({
  account,
  isEnough: hasEnded,
  waitMs,
  signal,
});

test("a wait ends when this process records the outcome", async () => {
  const log = memoryEventLog();
  const it = outcomes({ log, decider: delivery, category: "delivery", onError: fail });
  const both = Promise.all([it.wait("evt_1", ADMITTED, waiting()), it.wait("evt_1", ADMITTED, waiting())]);
  it.changed("evt_2", ENDED);
  it.changed("evt_1", knownAt(2));
  it.changed("evt_1", ENDED);
  assert.equal(await both, [ENDED, ENDED]);
});

test("a record by another node ends the wait, and one read serves all that wait for it", async () => {
  const log = memoryEventLog();
  let reads = 0;
  const counting: EventLog = {
    ...log,
    read: async (...args) => {
      reads += 1;
      return log.read(...args);
    },
  };
  const it = outcomes({ log: counting, decider: delivery, category: "delivery", onError: fail });
  await appendTo(log, records.slice(0, 1));
  const all = Promise.all(Array.from({ length: 50 }, () => it.wait("evt_1", ADMITTED, waiting())));
  await until("it has looked", () => reads > 0);
  await appendTo(log, records.slice(1));
  assert.ok((await all).every(({ state }) => hasEnded(state)));
  assert.ok(reads < 20, `${reads} reads`);
});

test("a log that cannot be read is read again", async () => {
  const log = memoryEventLog();
  await appendTo(log, records);
  const errors: unknown[] = [];
  const failing: EventLog = {
    ...log,
    read: async (...args) => (errors.length < 2 ? fail(new Error("away")) : log.read(...args)),
  };
  const it = outcomes({
    log: failing,
    decider: delivery,
    category: "delivery",
    onError: (error) => errors.push(error),
  });
  assert.ok(hasEnded((await it.wait("evt_1", ADMITTED, waiting())).state));
  assert.is(errors.length, 2);
});

test("a wait ends with the known state if the time is over, the client is gone, or too many wait", async () => {
  const it = outcomes({
    log: memoryEventLog(),
    decider: delivery,
    category: "delivery",
    onError: fail,
    places: waitingPlaces(1),
  });
  assert.equal(await it.wait("evt_1", ADMITTED, waiting(60)), ADMITTED);
  assert.equal(await it.wait("evt_1", ADMITTED, waiting(0)), ADMITTED);
  const gone = new AbortController();
  const left = it.wait("evt_1", ADMITTED, waiting(30_000, gone.signal));
  // The one place is taken.
  assert.equal(await it.wait("evt_1", ADMITTED, waiting()), ADMITTED);
  gone.abort();
  assert.equal(await left, ADMITTED);
  assert.equal(await it.wait("evt_1", ADMITTED, waiting(30_000, gone.signal)), ADMITTED);
  // Which is free again.
  const next = it.wait("evt_1", ADMITTED, waiting());
  it.changed("evt_1", ENDED);
  assert.equal(await next, ENDED);
});

test("an account that takes its share of the waiting places leaves the others free", async () => {
  const it = outcomes({
    log: memoryEventLog(),
    decider: delivery,
    category: "delivery",
    onError: fail,
    places: waitingPlaces(3, 2),
  });
  const { signal } = new AbortController();
  const mine = [it.wait("evt_1", ADMITTED, waiting()), it.wait("evt_2", ADMITTED, waiting())];
  assert.equal(await it.wait("evt_1", ADMITTED, waiting()), ADMITTED);
  const other = it.wait("evt_3", ADMITTED, waiting(5_000, signal, "acc_2"));
  // Its own share is not used up, the node's places are.
  assert.equal(await it.wait("evt_4", ADMITTED, waiting(5_000, signal, "acc_2")), ADMITTED);
  it.changed("evt_1", ENDED);
  const again = it.wait("evt_1", ADMITTED, waiting());
  for (const id of ["evt_1", "evt_2", "evt_3"]) it.changed(id, ENDED);
  assert.equal(await Promise.all([...mine, other, again]), [ENDED, ENDED, ENDED, ENDED]);
});

test("a later wait starts with the newest known state, and an older state ends none", async () => {
  const it = outcomes({ log: memoryEventLog(), decider: delivery, category: "delivery", onError: fail });
  const first = it.wait("evt_1", ADMITTED, { ...waiting(), isEnough: () => false, waitMs: 150 });
  it.changed("evt_1", ENDED);
  it.changed("evt_1", knownAt(2));
  assert.equal(await it.wait("evt_1", ADMITTED, waiting()), ENDED);
  assert.equal(await first, ENDED);
});

test.run();
