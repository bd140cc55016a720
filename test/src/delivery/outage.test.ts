import { suite } from "uvu";
import * as assert from "uvu/assert";
import { catchUpRate } from "../../../domain/endpoint/circuit.ts";
import { deliverySimulation, steady } from "../../support/delivery-simulation.ts";
import { START } from "../../support/history.ts";

/** Receivers that fail and come back, in virtual time. */
const test = suite("outages");

const MINUTE_MS = 60_000;
const PER_SECOND = 100;

const percentile = (values: readonly number[], part: number): number =>
  values.toSorted((a, b) => a - b)[Math.floor(part * (values.length - 1))] ?? 0;

test("after ten minutes down at 100 events a second, all is delivered in the order of admission, slowly at first", async () => {
  const downFrom = START + 5_000;
  const downUntil = downFrom + 10 * MINUTE_MS;
  const it = await deliverySimulation({
    end_1: (_, now) => ({ status: now >= downFrom && now < downUntil ? 503 : 200, ms: 1 }),
  });
  await it.endpoint("end_1", { concurrency: 1 });
  const node = it.node("node_1");
  node.start();
  const sendUntil = downUntil + 30_000;
  const { admitted, stopAt } = steady(it, node, "end_1", 1_000 / PER_SECOND);
  stopAt(sendUntil);
  await it.time.runUntil(sendUntil + 8 * MINUTE_MS);
  assert.equal(it.errors, []);

  const delivered = it.all("EventDelivered").map(({ data }) => String(data.event_id));
  assert.is(delivered.length, admitted.length);
  const arrived = it.sent.filter(({ status }) => status === 200).map(({ eventId }) => eventId);
  const wrong = arrived.findIndex((id, n) => id !== admitted[n]);
  assert.is(wrong, -1, `number ${wrong} to arrive is ${arrived[wrong]}`);
  assert.equal(it.all("DeliveryFailed"), []);

  const during = it.sent.filter(({ at }) => at >= downFrom && at < downUntil);
  const [opened] = it.all("EndpointOpened");
  const probes = it.all("EndpointProbed");
  assert.is(during.length, 10 + probes.length - 1, "ten failures, and single probes");
  const waits = probes.map(({ data }) => Date.parse(String(data.at)) - Date.parse(String(opened?.data.at)));
  assert.equal(
    waits.map((ms) => Math.round(ms / 1_000)),
    [10, 30, 70, 150, 310, 610],
  );
  const [recovered, ...more] = it.all("EndpointRecovered");
  assert.equal([recovered?.data.from, more.length], ["open", 0]);
  const well = String(recovered?.data.at);
  const wellMs = Date.parse(well);
  for (let second = 0; second < 100; second += 1) {
    const begins = wellMs + second * 1_000;
    const count = it.sent.filter(({ at }) => at >= begins && at < begins + 1_000).length;
    const most = catchUpRate(well, begins + 999) ?? Number.POSITIVE_INFINITY;
    assert.ok(count <= most * 1.02 + 1, `${count} in second ${second}, ${most} may`);
  }
  await node.stop(0);
  await it.close();
});

test("10,000 events to a hanging receiver do not delay another one, and few of them are in memory", async () => {
  const p95 = async (hanging: number): Promise<number> => {
    const it = await deliverySimulation({ fast: () => ({ status: 200, ms: 20 }), hanging: () => null });
    await it.endpoint("fast");
    await it.endpoint("hanging", { concurrency: 256 });
    const node = it.node("node_1");
    node.start();
    const fast = steady(it, node, "fast", 20);
    await it.time.runUntil(START + 1_000);
    for (let n = 0; n < hanging; n += 1) await it.admit(`evt_hanging_${n}`, "hanging", node);
    fast.stopAt(START + 60_000);
    await it.time.runUntil(START + 90_000);
    assert.equal(it.errors, []);
    const delivered = it.all("EventDelivered").map(({ data }) => data);
    assert.is(delivered.length, fast.admitted.length);
    // One round of requests, those that begin as its first ten end, and then single probes.
    assert.ok(it.sent.filter(({ endpointId }) => endpointId === "hanging").length <= 256 + 9 + 4);
    await node.stop(0);
    await it.close();
    return percentile(
      delivered.map(({ admitted_at, at }) => Date.parse(String(at)) - Date.parse(String(admitted_at))),
      0.95,
    );
  };
  const [alone, beside] = [await p95(0), await p95(10_000)];
  assert.ok(alone > 0 && beside <= 2 * alone, `${beside} ms beside it, ${alone} ms alone`);
});

test("a receiver that refuses one event is found to have recovered by another event", async () => {
  let isDown = true;
  const it = await deliverySimulation({
    end_1: (eventId) => ({ status: isDown ? 500 : eventId === "evt_end_1_0" ? 400 : 200, ms: 1 }),
  });
  await it.endpoint("end_1");
  const node = it.node("node_1");
  node.start();
  const events = steady(it, node, "end_1", 10);
  events.stopAt(START + 1_000);
  await it.time.runUntil(START + 5_000);
  isDown = false;
  await it.time.runUntil(START + 5 * MINUTE_MS);
  const probed = it.all("EndpointProbed").map(({ data }) => data.event_id);
  assert.is(probed[0], "evt_end_1_0");
  assert.is.not(probed[1], "evt_end_1_0");
  assert.is(it.all("EndpointRecovered").length, 1);
  const failedOne = events.admitted.filter((id) => !it.all("EventDelivered").some(({ data }) => data.event_id === id));
  assert.equal(failedOne, ["evt_end_1_0"]);
  assert.equal(it.errors, []);
  await node.stop(0);
  await it.close();
});

test("probes use up no schedule, and with events in order a failed one waits for no schedule", async () => {
  let isDown = true;
  const it = await deliverySimulation({ end_1: () => ({ status: isDown ? 500 : 200, ms: 1 }) });
  await it.endpoint("end_1", { concurrency: 1, retry_schedule_s: [3_600] });
  const node = it.node("node_1");
  node.start();
  const events = steady(it, node, "end_1", 100);
  events.stopAt(START + 2_000);
  await it.time.runUntil(START + 60 * MINUTE_MS);
  assert.ok(it.all("EndpointProbed").length > 10);
  assert.equal(it.all("DeliveryFailed"), []);
  isDown = false;
  await it.time.runUntil(START + 80 * MINUTE_MS);
  const arrived = it.sent.filter(({ status }) => status === 200).map(({ eventId }) => eventId);
  assert.equal(arrived, events.admitted);
  await node.stop(0);
  await it.close();
});

test("a process that begins while an endpoint is open leaves it in peace, and goes on with its order", async () => {
  let isDown = true;
  const it = await deliverySimulation({ end_1: () => ({ status: isDown ? 500 : 200, ms: 1 }) });
  await it.endpoint("end_1", { concurrency: 1 });
  const first = it.node("node_1");
  first.start();
  const events = steady(it, first, "end_1", 100);
  events.stopAt(START + 15_000);
  await it.time.runUntil(START + 15_000);
  const probes = it.all("EndpointProbed").length;
  await first.stop(0);
  const second = it.node("node_2");
  second.start();
  const before = it.sent.length;
  const later = steady(it, second, "end_1", 100);
  later.stopAt(START + 100_000);
  await it.time.runUntil(START + 25_000);
  assert.equal([it.sent.length, it.all("EndpointProbed").length], [before, probes], "nothing before the next probe");
  isDown = false;
  await it.time.runUntil(START + 5 * MINUTE_MS);
  const arrived = it.sent.filter(({ status }) => status === 200).map(({ eventId }) => eventId);
  assert.is(new Set(arrived).size, arrived.length);
  const order = [...events.admitted, ...later.admitted.filter((id) => !events.admitted.includes(id))];
  assert.equal(arrived, order);
  assert.equal(it.errors, []);
  await second.stop(0);
  await it.close();
});

test("a failing endpoint is warned after two and a half days and disabled after five; enabled, it catches up slowly", async () => {
  let isDown = true;
  const it = await deliverySimulation({ end_1: () => ({ status: isDown ? 500 : 200, ms: 1 }) });
  await it.endpoint("end_1");
  const node = it.node("node_1");
  node.start();
  const events = steady(it, node, "end_1", 10);
  events.stopAt(START + 2_000);
  /** Looked at every six hours only. */
  const pass = async (hours: number): Promise<void> => {
    for (let passed = 0; passed < hours; passed += 6) {
      it.time.jump(6 * 60 * MINUTE_MS);
      await it.time.runUntil(it.clock.now() + 5_000);
    }
  };
  await it.time.runUntil(START + 5_000);
  await pass(54);
  assert.equal(it.all("EndpointWarned"), []);
  await pass(12);
  const [warned] = it.all("EndpointWarned");
  assert.is(it.all("EndpointWarned").length, 1);
  const until = Date.parse(String(warned?.data.disables_at));
  assert.ok(Math.abs(until - START - 120 * 60 * MINUTE_MS) < MINUTE_MS);
  await pass(48);
  assert.equal([it.all("EndpointWarned").length, it.all("EndpointDisabled").length], [1, 0]);
  await pass(12);
  const [disabled] = it.all("EndpointDisabled");
  assert.match(String(disabled?.data.reason), "for 5 days");
  const requests = it.sent.length;
  await pass(24);
  assert.is(it.sent.length, requests);
  assert.equal(it.all("DeliveryFailed"), []);
  isDown = false;
  await it.append("endpoint-end_1", {
    type: "EndpointEnabled",
    data: { endpoint_id: "end_1", at: new Date(it.clock.now()).toISOString() },
  });
  node.wake();
  const enabledAt = it.clock.now();
  await it.time.runUntil(enabledAt + MINUTE_MS);
  assert.is(it.all("EventDelivered").length, events.admitted.length);
  assert.ok(it.sent.filter(({ at }) => at >= enabledAt && at < enabledAt + 2_000).length <= 24);
  assert.equal(it.errors, []);
  await node.stop(0);
  await it.close();
});

test("a receiver that asks for a pause is not probed before", async () => {
  const it = await deliverySimulation({ end_1: () => ({ status: 503, ms: 1, retryAfterMs: 10 * MINUTE_MS }) });
  await it.endpoint("end_1");
  const node = it.node("node_1");
  node.start();
  steady(it, node, "end_1", 10).stopAt(START + 1_000);
  await it.time.runUntil(START + 9.5 * MINUTE_MS);
  assert.equal(it.all("EndpointProbed"), []);
  await it.time.runUntil(START + 19 * MINUTE_MS);
  assert.is(it.all("EndpointProbed").length, 1);
  await node.stop(0);
  await it.close();
});

test("two nodes take turns to probe an endpoint whose circuit is open", async () => {
  let isDown = true;
  const it = await deliverySimulation({ end_1: () => ({ status: isDown ? 500 : 200, ms: 1 }) });
  await it.endpoint("end_1");
  const nodes = [it.node("node_1"), it.node("node_2")] as const;
  for (const node of nodes) node.start();
  const events = nodes.map((node, n) => {
    const of = steady(it, node, "end_1", 20 + n);
    of.stopAt(START + 60_000);
    return of;
  });
  await it.time.runUntil(START + 60_000);
  assert.is(it.all("EndpointOpened").length, 1);
  const opened = Date.parse(String(it.all("EndpointOpened")[0]?.data.at));
  // What was under way at the other node when it opened, and one request a probe.
  assert.ok(it.sent.filter(({ at }) => at > opened + 200).length === it.all("EndpointProbed").length);
  assert.equal(
    it.all("EndpointProbed").map(({ data }) => data.probe),
    [1, 2],
  );
  isDown = false;
  await it.time.runUntil(START + 10 * MINUTE_MS);
  const all = new Set(events.flatMap(({ admitted }) => admitted));
  assert.is(new Set(it.all("EventDelivered").map(({ data }) => data.event_id)).size, all.size);
  assert.is(it.all("EndpointRecovered").length, 1);
  assert.equal(it.errors, []);
  for (const node of nodes) await node.stop(0);
  await it.close();
});

test("a replay bypasses an open circuit and closes it by a success; after a failure it waits for the next probe", async () => {
  let isDown = true;
  const it = await deliverySimulation({ end_1: () => ({ status: isDown ? 500 : 200, ms: 1 }) });
  await it.endpoint("end_1", { retry_schedule_s: [] });
  const node = it.node("node_1");
  node.start();
  const events = steady(it, node, "end_1", 10);
  events.stopAt(START + 500);
  await it.time.runUntil(START + 2_000);
  assert.is(it.all("DeliveryFailed").length, 10);
  const replay = (eventId: string): Promise<void> => it.replay(eventId, "end_1", node, true);
  const [first = "", second = ""] = events.admitted;
  await replay(first);
  await it.time.runUntil(START + 3_000);
  assert.equal([it.sent.at(-1)?.eventId, it.sent.at(-1)?.status], [first, 500]);
  const [opened] = it.all("EndpointOpened");
  assert.is(it.all("AttemptFailed").at(-1)?.data.next_attempt_at, opened?.data.next_probe_at);
  assert.is(it.all("DeliveryFailed").length, 10);
  isDown = false;
  await replay(second);
  await it.time.runUntil(START + 4_000);
  assert.is(it.all("EndpointRecovered").length, 1);
  assert.equal(it.all("EndpointProbed"), []);
  await it.time.runUntil(START + 60_000);
  assert.is(it.all("EventDelivered").length, events.admitted.length - 8);
  assert.equal(it.errors, []);
  await node.stop(0);
  await it.close();
});

test("an event that failed while the clock was a year ahead does not wait for that year", async () => {
  const yearMs = 365 * 24 * 60 * MINUTE_MS;
  let isDown = true;
  const it = await deliverySimulation({ end_1: () => ({ status: isDown ? 503 : 200, ms: 1 }) });
  await it.endpoint("end_1");
  const node = it.node("node_1");
  node.start();
  it.time.set(yearMs);
  await it.admit("evt_1", "end_1", node);
  await it.time.runUntil(START + 1_000);
  isDown = false;
  it.time.set(-yearMs);
  await it.time.runUntil(START + MINUTE_MS);
  assert.equal([it.errors, it.sent.map(({ status }) => status)], [[], [503, 200]]);
  await node.stop(0);
  await it.close();
});

test("while the view is rebuilt, no new event overtakes one that it does not list yet", async () => {
  const it = await deliverySimulation({ end_1: () => ({ status: 200, ms: 1 }) });
  await it.endpoint("end_1", { concurrency: 1 });
  const gone = it.node("node_1");
  const old = ["evt_1", "evt_2", "evt_3"];
  for (const id of old) await it.admit(id, "end_1", gone);
  await it.time.runUntil(START + 1_000);
  await it.rebuild(20_000);
  const node = it.node("node_2");
  node.start();
  await it.admit("evt_4", "end_1", node);
  // Later than a view that is only a little behind would have listed the one before.
  await it.time.runUntil(START + 10_000);
  await it.admit("evt_5", "end_1", node);
  await it.time.runUntil(START + 60_000);
  assert.equal([it.errors, it.sent.map(({ eventId }) => eventId)], [[], [...old, "evt_4", "evt_5"]]);
  await node.stop(0);
  await it.close();
});

test("an event before its first attempt does not wait for a clock that was set back, and keeps its order", async () => {
  const it = await deliverySimulation({
    end_1: () => ({ status: 200, ms: 1_000 }),
    end_2: () => ({ status: 200, ms: 1_000 }),
  });
  await it.endpoint("end_1", { concurrency: 1 });
  await it.endpoint("end_2", { concurrency: 2 });
  const before = it.node("node_1");
  before.start();
  const events = ["end_1", "end_2"].flatMap((end) => [0, 1, 2, 3, 4].map((n) => [`evt_${end}_${n}`, end] as const));
  for (const [eventId, end] of events) await it.admit(eventId, end, before);
  await it.time.runUntil(START + 1_500);
  it.time.set(-60 * MINUTE_MS);
  // In memory, and on disk for whoever is started behind it.
  await it.time.runUntil(START + 2_500);
  await before.stop(0);
  const node = it.node("node_2");
  node.start();
  for (const end of ["end_1", "end_2"]) await it.admit(`evt_${end}_5`, end, node);
  await it.time.runUntil(START + 60_000);
  assert.equal(it.errors, []);
  const delivered = (end: string) =>
    it.all("EventDelivered").flatMap(({ data }) => (data.endpoint_id === end ? [String(data.event_id)] : []));
  assert.equal(
    delivered("end_1"),
    [0, 1, 2, 3, 4, 5].map((n) => `evt_end_1_${n}`),
  );
  assert.equal(
    delivered("end_2").toSorted(),
    [0, 1, 2, 3, 4, 5].map((n) => `evt_end_2_${n}`),
  );
  await node.stop(0);
  await it.close();
});

test("an endpoint that was down when the clock was set back is found well again without waiting for the clock", async () => {
  let isDown = true;
  const it = await deliverySimulation({ end_1: () => ({ status: isDown ? 500 : 200, ms: 1 }) });
  await it.endpoint("end_1", { retry_schedule_s: [5, 5, 5] });
  const node = it.node("node_1");
  node.start();
  const { stopAt } = steady(it, node, "end_1", 100);
  stopAt(START + 3_000);
  await it.time.runUntil(START + 5_000);
  assert.is(it.all("EndpointOpened").length, 1);
  isDown = false;
  it.time.set(-60 * MINUTE_MS);
  // The first probe is judged by what was known of the endpoint before it, the next one comes 20 seconds later.
  await it.time.runUntil(START + 40_000);
  assert.is(it.all("EndpointRecovered").length, 1);
  assert.equal(it.errors, []);
  await node.stop(0);
  await it.close();
});

test("failures of our own resolver open no circuit, and the events are tried again and delivered", async () => {
  let isDown = true;
  const it = await deliverySimulation({ end_1: () => (isDown ? "unresolved" : { status: 200, ms: 1 }) });
  await it.endpoint("end_1", { retry_schedule_s: [5, 30, 120] });
  const node = it.node("node_1");
  node.start();
  const events = steady(it, node, "end_1", 100);
  events.stopAt(START + 10_000);
  await it.time.runUntil(START + 15_000);
  assert.ok(it.all("AttemptFailed").length >= 50);
  isDown = false;
  await it.time.runUntil(START + 120_000);
  assert.equal([it.all("EndpointDegraded").length, it.all("EndpointOpened").length], [0, 0]);
  assert.is(it.all("EventDelivered").length, events.admitted.length);
  assert.equal(it.errors, []);
  await node.stop(0);
  await it.close();
});

test.run();
