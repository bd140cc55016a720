import { suite } from "uvu";
import * as assert from "uvu/assert";
import { delivery } from "../../../domain/delivery/decider.ts";
import type { Request } from "../../../domain/delivery/events.ts";
import type { EndpointSettings } from "../../../domain/endpoint/events.ts";
import type { AdmissionLease } from "../../../src/delivery/admission-lease.ts";
import type { Deliverer } from "../../../src/delivery/deliverer.ts";
import { RUNNING_MAX } from "../../../src/delivery/lanes.ts";
import { type Envelope, type Fact, toEvents } from "../../../src/streams/envelope.ts";
import { type Answers, deliverySimulation, steady, type Troubles } from "../../support/delivery-simulation.ts";
import { request, START } from "../../support/history.ts";

/** Leases of first attempts that are appended with the admission, in virtual time. */
const test = suite("leases of admissions");

const ACCOUNT = "acc_1";
const TRACE = { trace_id: "1".repeat(32), span_id: "2".repeat(16) };
const PAUSE_MS = 50;
const ok: Answers = () => ({ status: 200, ms: 5 });

type World = Awaited<ReturnType<typeof deliverySimulation>>;

const endsOf = (it: World, eventId: string) => it.log.read(`delivery-${eventId}`, null, 20);
const typesOf = async (it: World, eventId: string) => (await endsOf(it, eventId)).map(({ type }) => type);
const sentOf = (it: World, eventId: string): number => it.sent.filter((sent) => sent.eventId === eventId).length;

const admissionOf = (it: World, eventId: string, endpointId: string, more: Partial<Request> = {}) => {
  const at = new Date(it.clock.now()).toISOString();
  const fact = { type: "EventAdmitted", data: request({ event_id: eventId, endpoint_id: endpointId, at, ...more }) };
  return { fact: fact as Fact & Parameters<typeof delivery.evolve>[1], at };
};

const lease = (it: World, node: Deliverer, eventId: string, endpointId = "end_1", more: Partial<Request> = {}) => {
  const { fact } = admissionOf(it, eventId, endpointId, more);
  const content = { body: Buffer.from("{}"), contentType: "application/json", contentEncoding: "" };
  const job = { kind: "due", eventId, account: ACCOUNT, endpointId, trace: TRACE, ...content } as const;
  return node.lease(job, delivery.evolve(delivery.initial, fact));
};

const append = async (it: World, eventId: string, taken: AdmissionLease) => {
  const { fact, at } = admissionOf(it, eventId, "end_1");
  const source = { kind: "source", id: "src_1" } as const;
  const envelope: Envelope = { commandId: `adm_${eventId}`, account: ACCOUNT, actor: source, trace: TRACE, at };
  const records = [...toEvents([fact], envelope), ...taken.records];
  const appended = await it.log.append(`delivery-${eventId}`, "absent", records);
  if (appended.outcome !== "appended") throw new Error("the event exists already");
  return appended;
};

const taken = (it: AdmissionLease | null): AdmissionLease => {
  if (it === null) throw new Error("no lease was taken");
  return it;
};

/** A node that sent an event to each endpoint 50 ms ago, so that the endpoints' states are at hand for 50 ms more. */
const warm = async (
  answers: Readonly<Record<string, Answers>> = { end_1: ok },
  settings: Partial<EndpointSettings> = {},
  troubles: Troubles = {},
) => {
  const it = await deliverySimulation(answers, troubles);
  for (const id of Object.keys(answers)) await it.endpoint(id, settings);
  const node = it.node("node_1");
  node.start();
  for (const id of Object.keys(answers)) await it.admit(`evt_first_${id}`, id, node);
  const later = (ms: number) => it.time.runUntil(it.clock.now() + ms);
  await later(PAUSE_MS);
  const stop = async (): Promise<void> => {
    assert.equal(it.errors, []);
    await node.stop(0);
    await it.close();
  };
  return { it, node, later, stop };
};

test("an attempt leased with the admission makes the records of one that is leased after it", async () => {
  const { it, node, later, stop } = await warm();
  const its = taken(lease(it, node, "evt_1"));
  its.begin(await append(it, "evt_1", its));
  await later(PAUSE_MS);
  const shown = async (eventId: string) =>
    (await endsOf(it, eventId)).map(({ type, revision, data: { number, lease_until, node: by, trigger }, meta }) => {
      const { actor, trace_id } = meta;
      const until = lease_until === undefined ? null : Date.parse(String(lease_until)) - Date.parse(meta.recorded_at);
      return { type, revision, number, by, trigger, until, trace_id, actor: type === "EventAdmitted" ? null : actor };
    });
  assert.equal(await shown("evt_1"), await shown("evt_first_end_1"));
  assert.equal(await typesOf(it, "evt_1"), ["EventAdmitted", "AttemptStarted", "AttemptSucceeded", "EventDelivered"]);
  assert.is(sentOf(it, "evt_1"), 1);
  await stop();
});

test("nothing is sent before the lease begins, and once however often it does", async () => {
  const { it, node, later, stop } = await warm();
  const its = taken(lease(it, node, "evt_1"));
  const appended = await append(it, "evt_1", its);
  await later(2_000);
  assert.is(sentOf(it, "evt_1"), 0, "the view lists it meanwhile");
  its.begin(appended);
  its.begin(appended);
  its.cancel();
  await later(PAUSE_MS);
  assert.is(sentOf(it, "evt_1"), 1);
  await stop();
});

test("an endpoint gives no more leases than it takes requests at once, and a cancelled one gives its slot back", async () => {
  const { it, node, later, stop } = await warm({ end_1: ok }, { concurrency: 2 });
  const [first, second] = [taken(lease(it, node, "evt_1")), taken(lease(it, node, "evt_2"))];
  assert.is(lease(it, node, "evt_3"), null);
  await it.admit("evt_4", "end_1", node);
  first.cancel();
  await later(20);
  assert.is(sentOf(it, "evt_4"), 1, "the waiting event has the slot");
  first.cancel();
  first.begin({ revision: 1, position: "1" });
  const third = taken(lease(it, node, "evt_3"));
  assert.is(lease(it, node, "evt_5"), null, "a second call gave nothing back");
  second.cancel();
  third.cancel();
  await later(PAUSE_MS);
  assert.is(sentOf(it, "evt_1"), 0);
  await stop();
});

test("an event that waits for the endpoint, or is leased already, leaves no lease to others", async () => {
  const { it, node, stop } = await warm({ end_1: () => ({ status: 200, ms: 10_000 }) }, { concurrency: 1 });
  assert.equal(lease(it, node, "evt_1")?.records, [], "it is busy, and takes its events in order");
  await stop();
  const wide = await warm();
  const its = taken(lease(wide.it, wide.node, "evt_1"));
  assert.is(lease(wide.it, wide.node, "evt_1"), null);
  its.cancel();
  await wide.stop();
});

test("no lease is taken by a node that does not deliver, before its start or after its stop", async () => {
  const { it, node, later, stop } = await warm();
  const other = it.node("node_2");
  assert.is(lease(it, other, "evt_1"), null);
  taken(lease(it, node, "evt_1")).cancel();
  await later(1);
  await stop();
  assert.is(lease(it, node, "evt_2"), null);
});

test("an endpoint that was never seen, or not for a while, gives no lease", async () => {
  const { it, node, later, stop } = await warm();
  await it.endpoint("end_2");
  assert.is(lease(it, node, "evt_1", "end_2"), null);
  await later(101);
  assert.is(lease(it, node, "evt_1"), null);
  await it.admit("evt_2", "end_1", node);
  await later(PAUSE_MS);
  taken(lease(it, node, "evt_1")).cancel();
  await stop();
});

test("an endpoint that is asked for often stays at hand", async () => {
  const { it, node, later, stop } = await warm();
  for (let n = 0; n < 100; n += 1) {
    taken(lease(it, node, `evt_${n}`)).cancel();
    await later(20);
  }
  await stop();
});

test("an endpoint that is disabled, deleted, ordered, failing or at its rate gives no lease", async () => {
  const at = new Date(START).toISOString();
  const about = { endpoint_id: "end_1", at };
  const change = async (type: string, data: object, settings: Partial<EndpointSettings> = {}): Promise<void> => {
    const { it, node, later, stop } = await warm({ end_1: ok }, settings);
    await it.append("endpoint-end_1", { type, data: { ...about, ...data } });
    await later(30);
    lease(it, node, "evt_1")?.cancel();
    await later(100);
    await it.admit("evt_2", "end_1", node);
    await later(PAUSE_MS);
    assert.is(lease(it, node, "evt_3"), null, type);
    await stop();
  };
  await change("EndpointDisabled", { reason: "by hand", by: { kind: "member", id: "mem_1" } });
  await change("EndpointDeleted", {});
  const ordered = await warm({ end_1: ok }, { concurrency: 1 });
  assert.equal(lease(ordered.it, ordered.node, "evt_1")?.records, [], "ordered");
  await ordered.stop();
  const failing = await warm({ end_1: () => ({ status: 500, ms: 1 }) });
  for (let n = 0; n < 12; n += 1) await failing.it.admit(`evt_${n}`, "end_1", failing.node);
  await failing.later(PAUSE_MS);
  assert.is(lease(failing.it, failing.node, "evt_next"), null, "its circuit is open");
  await failing.stop();
  const slow = await warm({ end_1: ok }, { rate_per_second: 1 });
  taken(lease(slow.it, slow.node, "evt_1")).cancel();
  assert.is(lease(slow.it, slow.node, "evt_2"), null, "at its rate");
  await slow.stop();
});

test("an agent's request and an approved one get no lease, because more is read before they are sent", async () => {
  const { it, node, stop } = await warm();
  assert.is(
    lease(it, node, "evt_1", "end_1", { origin: { kind: "agent", id: "agt_1", name: "bot", type: "agent" } }),
    null,
  );
  const target = { endpoint_id: "end_1", url: "https://end_1/hook", headers: {} };
  assert.is(lease(it, node, "evt_2", "end_1", { bound: { target } } as unknown as Partial<Request>), null);
  taken(lease(it, node, "evt_3")).cancel();
  await stop();
});

test("after a crash between the lease and the request, the event is sent as a second attempt", async () => {
  const { it, node, later } = await warm();
  await append(it, "evt_1", taken(lease(it, node, "evt_1")));
  const next = it.node("node_2");
  next.start();
  await later(2_000);
  assert.equal(await typesOf(it, "evt_1"), [
    "EventAdmitted",
    "AttemptStarted",
    "AttemptStarted",
    "AttemptSucceeded",
    "EventDelivered",
  ]);
  assert.is(sentOf(it, "evt_1"), 1);
  await Promise.all([node.stop(0), next.stop(0)]);
  await it.close();
});

test("no other node sends an event while its lease lasts, and one does afterwards", async () => {
  const { it, node, later } = await warm();
  await append(it, "evt_1", taken(lease(it, node, "evt_1")));
  const other = it.node("node_2", (log) => log, false);
  other.start();
  await later(29_000);
  assert.is(sentOf(it, "evt_1"), 0);
  await later(3_000);
  assert.is(sentOf(it, "evt_1"), 1);
  await Promise.all([node.stop(0), other.stop(0)]);
  await it.close();
});

test("a lease that begins too late sends nothing; the event is sent when the lease has ended", async () => {
  const { it, node, later, stop } = await warm();
  const its = taken(lease(it, node, "evt_1"));
  const appended = await append(it, "evt_1", its);
  await later(15_001);
  its.begin(appended);
  await later(PAUSE_MS);
  assert.is(sentOf(it, "evt_1"), 0);
  await later(16_000);
  assert.is(sentOf(it, "evt_1"), 1);
  await stop();
});

test("the append of an admission that another request has won cancels the lease, and its event stays the winner's", async () => {
  const { it, node, later, stop } = await warm();
  const its = taken(lease(it, node, "evt_1"));
  await append(it, "evt_1", its);
  const again = taken(lease(it, node, "evt_2"));
  const lost = await append(it, "evt_1", again).catch(() => null);
  assert.is(lost, null);
  again.cancel();
  its.begin({ revision: 1, position: "1" });
  await later(PAUSE_MS);
  assert.is(sentOf(it, "evt_1"), 1);
  assert.equal(await typesOf(it, "evt_2"), []);
  await stop();
});

test("admissions of an ordered endpoint are sent in the log's order, whichever is told of first", async () => {
  const { it, node, later, stop } = await warm({ end_1: ok }, { concurrency: 1 });
  // Until then older events may be on disk, which go first.
  await later(5_000);
  const leases = ["evt_1", "evt_2", "evt_3"].map((eventId) => taken(lease(it, node, eventId)));
  const [first, second, lost] = leases;
  const appended = [];
  for (const [n, its] of [first, second].entries()) appended.push(await append(it, `evt_${n + 1}`, taken(its ?? null)));
  const [before, after] = appended;
  if (before === undefined || after === undefined) throw new Error("nothing was appended");
  second?.begin(after);
  await later(PAUSE_MS);
  assert.is(sentOf(it, "evt_2"), 0, "evt_1 may come first");
  lost?.cancel();
  first?.begin(before);
  await later(PAUSE_MS);
  const ids = it.sent.map(({ eventId }) => eventId);
  assert.equal(ids.slice(-2), ["evt_1", "evt_2"]);
  await stop();
});

test("a stop waits for leased attempts, whether they begin or are cancelled", async () => {
  const { it, node, later } = await warm();
  const [first, second] = [taken(lease(it, node, "evt_1")), taken(lease(it, node, "evt_2"))];
  const appended = await append(it, "evt_1", first);
  let hasStopped = false;
  const stopped = node.stop(10_000).then(() => {
    hasStopped = true;
  });
  await later(PAUSE_MS);
  assert.is(hasStopped, false);
  first.begin(appended);
  second.cancel();
  await later(PAUSE_MS);
  await stopped;
  assert.is(sentOf(it, "evt_1"), 1);
  assert.is((await typesOf(it, "evt_1")).at(-1), "EventDelivered");
  await it.close();
});

test("leases leave the account and the node room: a hanging receiver has at most half of the requests", async () => {
  const { it, node, later, stop } = await warm({ hanging: ok, fast: ok }, { concurrency: RUNNING_MAX });
  const leases: AdmissionLease[] = [];
  for (let n = 0; n < RUNNING_MAX; n += 1) {
    const next = lease(it, node, `evt_${n}`, "hanging");
    if (next !== null) leases.push(next);
  }
  assert.is(leases.length, RUNNING_MAX / 2);
  for (const it of leases) it.cancel();
  await later(1);
  taken(lease(it, node, "evt_later", "fast")).cancel();
  await stop();
});

test("10,000 events that wait for one endpoint take no lease from another", async () => {
  const { it, node, later, stop } = await warm(
    { slow: () => ({ status: 200, ms: 10_000 }), end_1: ok },
    { concurrency: 32 },
  );
  for (let n = 0; n < 10_000; n += 1) await it.admit(`evt_slow_${n}`, "slow", node);
  const fast = steady(it, node, "end_1", 20);
  await later(1_000);
  fast.stopAt(it.clock.now());
  assert.is(lease(it, node, "evt_1", "slow"), null);
  const its = taken(lease(it, node, "evt_1"));
  its.begin(await append(it, "evt_1", its));
  await later(PAUSE_MS);
  assert.is((await typesOf(it, "evt_1")).at(-1), "EventDelivered");
  await stop();
});

test("a job that came with everything is sent at once, unless another node has leased it meanwhile", async () => {
  for (const isLeasedElsewhere of [false, true]) {
    const { it, node, later, stop } = await warm();
    const { fact, at } = admissionOf(it, "evt_1", "end_1");
    const envelope = { commandId: "adm_1", account: ACCOUNT, actor: { kind: "source", id: "src_1" }, trace: TRACE, at };
    const known = { state: delivery.evolve(delivery.initial, fact), revision: 0 };
    await it.log.append("delivery-evt_1", "absent", toEvents([fact], envelope as Envelope));
    if (isLeasedElsewhere) {
      const attempt = { event_id: "evt_1", endpoint_id: "end_1", number: 1, trigger: "auto", node: "node_1", at };
      const data = { ...attempt, lease_until: new Date(it.clock.now() + 5_000).toISOString() };
      await it.append("delivery-evt_1", { type: "AttemptStarted", data });
    }
    const content = { body: Buffer.from("{}"), contentType: "application/json", contentEncoding: "" };
    node.offer({
      kind: "due",
      eventId: "evt_1",
      account: ACCOUNT,
      endpointId: "end_1",
      trace: TRACE,
      known,
      ...content,
    });
    await later(PAUSE_MS);
    assert.is(sentOf(it, "evt_1"), isLeasedElsewhere ? 0 : 1);
    await later(7_000);
    assert.is(sentOf(it, "evt_1"), 1);
    const starts = isLeasedElsewhere ? ["AttemptStarted", "AttemptStarted"] : ["AttemptStarted"];
    assert.equal(await typesOf(it, "evt_1"), ["EventAdmitted", ...starts, "AttemptSucceeded", "EventDelivered"]);
    await stop();
  }
});

test.run();
