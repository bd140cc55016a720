import { suite } from "uvu";
import * as assert from "uvu/assert";
import { delivery } from "../../../domain/delivery/decider.ts";
import type { EndpointSettings } from "../../../domain/endpoint/events.ts";
import type { EventLog, Expected } from "../../../domain/ports/event-log.ts";
import type { HttpSender } from "../../../domain/ports/sender.ts";
import { randomness } from "../../../infra/crypto/randomness.ts";
import { memoryEventLog } from "../../../infra/memory/event-log.ts";
import { memoryViewStore } from "../../../infra/memory/view-store.ts";
import { deliveryQueue } from "../../../projections/delivery-queue.ts";
import { Deliverer } from "../../../src/delivery/deliverer.ts";
import { eraseEvent } from "../../../src/erasure/erasures.ts";
import { aggregates } from "../../../src/streams/aggregates.ts";
import { type Envelope, type Fact, toEvents } from "../../../src/streams/envelope.ts";
import { damageRecords } from "../../../src/streams/payload-damage.ts";
import { payloads } from "../../../src/streams/payloads.ts";
import { foldStream, runCommand } from "../../../src/streams/run-command.ts";
import { inlineProjector } from "../../../src/views/view-progress.ts";
import { appendingLog } from "../../support/appending-log.ts";
import { damagedLog } from "../../support/damaged-log.ts";
import { enoughBytes } from "../../support/enough-bytes.ts";
import { request } from "../../support/history.ts";
import { testClock } from "../../support/http-app.ts";
import { words } from "../../support/personal-words.ts";
import { until } from "../../support/until.ts";

/** Two nodes that deliver what is in one log. */
const test = suite("two deliverers");
const TIMEOUT_MS = 1_000;
/** The lease of an attempt: the endpoint's timeout and a margin. */
const LEASE_MS = TIMEOUT_MS + 15_000;
const ENDPOINT: EndpointSettings = {
  name: "app",
  url: "https://app.example/hook",
  timeout_ms: TIMEOUT_MS,
  retry_schedule_s: [1],
  concurrency: 10,
  rate_per_second: null,
  headers: {},
  notifications: [],
  policy_id: null,
};
const timings = { dns: 0, connect: 0, tls: 0, first_byte: 1, total: 1 };
const fail = (error: unknown): never => {
  throw error;
};

/** As long as an append to a server takes: while it is under way the other node goes on. */
const roundTrip = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 1));

const world = async (answers: (node: string) => Promise<void> = roundTrip) => {
  const clock = testClock();
  const kept = memoryEventLog();
  const starts = { appended: 0, conflict: 0 };
  const reads = { payload: 0, delivery: 0 };
  const damaged = new Set<string>();
  const onDisk = damagedLog(kept, damaged);
  const append: EventLog["append"] = async (stream, expected, events) => {
    await roundTrip();
    const outcome = await kept.append(stream, expected, events);
    if (events[0]?.type === "AttemptStarted") starts[outcome.outcome] += 1;
    return outcome;
  };
  const log: EventLog = {
    ...appendingLog(kept, append),
    async read(stream, ...rest) {
      if (stream.startsWith("payload-")) reads.payload += 1;
      if (stream.startsWith("delivery-")) reads.delivery += 1;
      await roundTrip();
      return onDisk.read(stream, ...rest);
    },
  };
  const views = memoryViewStore([deliveryQueue.schema]);
  const following = await inlineProjector({ log: kept, views, projections: [deliveryQueue], clock, onError: fail });
  const envelope = (): Envelope => ({
    commandId: `cmd_${randomness.number()}`,
    account: "acc_1",
    actor: { kind: "system", id: "test" },
    trace: { trace_id: "1".repeat(32), span_id: "2".repeat(16) },
    at: new Date(clock.now()).toISOString(),
  });
  const record = (stream: string, fact: Fact, expected: Expected = "absent") =>
    kept.append(stream, expected, toEvents([fact], envelope()));
  const registered = { ...ENDPOINT, endpoint_id: "end_1", account: "acc_1", secret: "sealed", at: envelope().at };
  await record("endpoint-end_1", { type: "EndpointRegistered", data: registered });

  const sent: { readonly node: string; readonly id: string }[] = [];
  const node = (name: string) => {
    const sender: HttpSender = {
      async send({ headers }) {
        sent.push({ node: name, id: String(headers["webhook-id"]) });
        await answers(name);
        const body = Buffer.from("ok");
        return {
          outcome: "answered",
          statusCode: 200,
          headers: {},
          body,
          truncated: false,
          retryAfterMs: null,
          timings,
        };
      },
      close: async () => undefined,
    };
    return new Deliverer({
      allowances: enoughBytes,
      log,
      views,
      clock,
      randomness,
      sender,
      aggregates: aggregates(log, clock),
      payloads: payloads(
        log,
        randomness,
        damageRecords(log, clock, () => undefined),
      ),
      outbound: { headers: ({ job }) => ({ "webhook-id": job.eventId }), shown: (headers) => headers },
      node: name,
      othersAreGone: false,
      onError: fail,
    });
  };

  return {
    clock,
    log: kept,
    views,
    starts,
    sent,
    /** Streams whose payload has changed on disk. */
    damaged,
    node,
    async admit(event_id: string): Promise<void> {
      const incoming = { body: Buffer.from("{}"), contentType: "application/json", contentEncoding: "", headers: {} };
      const stored = await payloads(kept, randomness).keepFirst(event_id, incoming, envelope());
      if (stored === null) throw new Error(`${event_id} is there already`);
      const payload = { ...stored, content_type: "application/json", size: 2 };
      const data = request({ event_id, endpoint_id: "end_1", payload, at: envelope().at });
      await record(`delivery-${event_id}`, { type: "EventAdmitted", data });
    },
    append: record,
    envelope,
    reads,
    types: async () => (await kept.readAll(null, 10_000)).map(({ type }) => type),
    delivered: async () =>
      (await kept.readAll(null, 10_000)).filter(({ type }) => type === "EventDelivered").map(({ stream }) => stream),
    position: () => views.position(deliveryQueue.schema.name),
    close: () => following.stop(),
  };
};

test("each delivery is made once, both nodes have their part in a backlog, and they seldom want the same one at once", async () => {
  const it = await world();
  const ids = Array.from({ length: 400 }, (_, n) => `evt_${n}`);
  for (const id of ids) await it.admit(id);
  const nodes = [it.node("node_1"), it.node("node_2")];
  for (const node of nodes) node.start();
  await until("all are delivered", async () => (await it.delivered()).length === ids.length);
  for (const node of nodes) await node.stop(1_000);
  assert.equal(it.sent.map(({ id }) => id).sort(), ids.sort());
  const ofFirst = it.sent.filter(({ node }) => node === "node_1").length;
  assert.ok(ofFirst > 100 && ofFirst < 300, `${ofFirst} of 400 by the first`);
  // In one and the same order it is nearly every one.
  assert.ok(it.starts.conflict < 100, `${it.starts.conflict} appends in vain for 400 deliveries`);
  await it.close();
});

test("an event that a dead node had under way waits for the lease, then another node delivers it under the same id", async () => {
  const it = await world((node) => (node === "dead" ? new Promise(() => undefined) : roundTrip()));
  await it.admit("evt_1");
  const dead = it.node("dead");
  dead.start();
  await until("it is at the receiver", () => it.sent.length === 1);
  await dead.stop(0);
  const other = it.node("other");
  other.start();
  it.clock.advance(LEASE_MS - 1);
  await it.admit("evt_2");
  await until("the other one delivers", async () => (await it.delivered()).includes("delivery-evt_2"));
  assert.equal(
    it.sent.map(({ node, id }) => `${node} ${id}`),
    ["dead evt_1", "other evt_2"],
  );
  it.clock.advance(1);
  await until("it is taken over", async () => (await it.delivered()).includes("delivery-evt_1"));
  assert.equal(it.sent.at(-1), { node: "other", id: "evt_1" });
  await other.stop(1_000);
  await it.close();
});

test("an event that the view lists while another node attempts it is left to that node", async () => {
  let answer = (): void => undefined;
  const it = await world(() => new Promise((resolve) => (answer = resolve)));
  await it.admit("evt_1");
  await until("the view has it", async () => (await it.position()) === (await it.log.head()));
  // From here on the view is behind.
  await it.close();
  const [first, other] = [it.node("node_1"), it.node("node_2")];
  first.start();
  await until("it is at the receiver", () => it.sent.length === 1);
  const deleted = { endpoint_id: "end_1", at: new Date(it.clock.now()).toISOString() };
  await it.append("endpoint-end_1", { type: "EndpointDeleted", data: deleted }, 0);
  const { payload, delivery } = it.reads;
  other.start();
  await until("the other one has looked", () => it.reads.delivery > delivery);
  await other.stop(1_000);
  assert.is(it.reads.payload, payload);
  answer();
  await until("it is delivered", async () => (await it.delivered()).length === 1);
  await first.stop(1_000);
  assert.not((await it.types()).includes("DeliveryFailed"));
});

/** The endpoint is deleted during an attempt of the first node. The second one has known the event since before it began. */
const deletedDuringAnAttempt = async () => {
  let answer = (): void => undefined;
  const it = await world(() => new Promise((resolve) => (answer = resolve)));
  await it.admit("evt_1");
  const known = await foldStream(it.log, delivery, "delivery-evt_1");
  const [first, other] = [it.node("node_1"), it.node("node_2")];
  first.start();
  await until("it is at the receiver", () => it.sent.length === 1);
  const deleted = { endpoint_id: "end_1", at: new Date(it.clock.now()).toISOString() };
  await it.append("endpoint-end_1", { type: "EndpointDeleted", data: deleted }, 0);
  other.start();
  const reads = it.reads.delivery;
  other.offer({
    kind: "due",
    eventId: "evt_1",
    account: "acc_1",
    endpointId: "end_1",
    trace: it.envelope().trace,
    known,
  });
  await until("the second node has seen the attempt", () => it.reads.delivery > reads);
  return { it, first, other, answer: () => answer() };
};

test("a node that cannot deliver an event leaves it to the attempt of another node, however old its own knowledge is", async () => {
  const { it, first, other, answer } = await deletedDuringAnAttempt();
  answer();
  await until("its attempt has succeeded", async () => (await it.delivered()).length === 1);
  for (const node of [first, other]) await node.stop(1_000);
  assert.not((await it.types()).includes("DeliveryFailed"));
  await it.close();
});

test("an event that could not be given up during an attempt is given up when the lease of that attempt has ended", async () => {
  const { it, first, other } = await deletedDuringAnAttempt();
  await first.stop(0);
  assert.not((await it.types()).includes("DeliveryFailed"));
  it.clock.advance(LEASE_MS);
  await until("it has ended", async () => (await it.types()).includes("DeliveryFailed"));
  await other.stop(1_000);
  assert.is(it.sent.length, 1);
  await it.close();
});

test("an answer to a process that slept longer than its lease is not stored after an erasure", async () => {
  for (const isGivenUp of [false, true]) {
    let answer = (): void => undefined;
    const it = await world(() => new Promise((resolve) => (answer = resolve)));
    await it.admit("evt_1");
    const sleeping = it.node("sleeping");
    sleeping.start();
    await until("it is at the receiver", () => it.sent.length === 1);
    it.clock.advance(LEASE_MS + 1);
    const cause = { reason: "asked for" };
    const erased = await eraseEvent(it.log, { id: "evt_1", cause, envelope: it.envelope() });
    assert.is(erased.outcome, "accepted");
    const other = it.node("other");
    if (isGivenUp) {
      other.start();
      await until("it has ended", async () => (await it.types()).includes("DeliveryFailed"));
    }
    answer();
    await sleeping.stop(1_000);
    await other.stop(1_000);
    assert.is((await it.types()).includes("EventDelivered"), !isGivenUp);
    assert.equal(await it.log.read("payload-evt_1", null, 10), []);
    await it.close();
  }
});

const REPLAY = { id: "rpl_1", by: { kind: "member", id: "mem_1" }, reason: words("restored") } as const;

test("a payload that was damaged on disk is not sent: its event fails, and is replayed once the payload is restored", async () => {
  const it = await world();
  for (const id of ["evt_1", "evt_2"]) await it.admit(id);
  it.damaged.add("payload-evt_1");
  const nodes = [it.node("node_1"), it.node("node_2")];
  for (const node of nodes) node.start();
  const all = () => it.log.read("delivery-evt_1", null, 100);
  await until("it has failed", async () => (await all()).some(({ type }) => type === "DeliveryFailed"));
  await until("the other one is delivered", async () => (await it.delivered()).length === 1);
  assert.equal(
    (await all()).map(({ type }) => type),
    ["EventAdmitted", "PayloadDamageFound", "DeliveryFailed"],
  );
  const failure = (await all()).at(-1)?.data.failure as { kind: string; detail: string };
  assert.is(failure.kind, "payload-damaged");
  assert.match(failure.detail, /does not match the hash .* restore it from a backup, then replay the event/);
  assert.equal(
    it.sent.map(({ id }) => id),
    ["evt_2"],
  );

  it.damaged.clear();
  const known = await foldStream(it.log, delivery, "delivery-evt_1");
  const command = { type: "Replay", replay: REPLAY, places: null, at: it.envelope().at } as const;
  const ran = await runCommand(it.log, {
    decider: delivery,
    stream: "delivery-evt_1",
    from: known,
    command,
    envelope: it.envelope(),
  });
  assert.is(ran.outcome, "accepted");
  await until("it is delivered", async () => {
    // As the reactor does behind a replay.
    for (const node of nodes) node.wake();
    return (await it.delivered()).includes("delivery-evt_1");
  });
  for (const node of nodes) await node.stop(1_000);
  assert.equal(it.sent.map(({ id }) => id).sort(), ["evt_1", "evt_2"]);
  await it.close();
});

test.run();
