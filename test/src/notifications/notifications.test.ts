import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { JsonObject } from "../../../domain/json.ts";
import type { EventLog } from "../../../domain/ports/event-log.ts";
import { NOTIFICATIONS } from "../../../src/notifications/names.ts";
import { SUBSCRIBERS_MAX } from "../../../src/notifications/subscribers.ts";
import { saltedHash } from "../../../src/streams/commitments.ts";
import { eventIdOf } from "../../../src/streams/event-id.ts";
import { payloadStream } from "../../../src/streams/payloads.ts";
import { failingLog } from "../../support/failing-log.ts";
import { approvalFacts, at, deliveryFacts, SERVER_ERROR, START } from "../../support/history.ts";
import { fieldOf } from "../../support/log-facts.ts";
import { notificationsWorld } from "../../support/notifications-world.ts";
import { keepWords } from "../../support/personal-words.ts";

const test = suite("notifications");

const ABOUT = {
  approval_id: "apr_1",
  event_id: "evt_1",
  bundle_id: null,
  action: "payment_intent.succeeded",
  summary: 'Source "shop" (stripe) sent payment_intent.succeeded, 0.02 EUR',
  digest: "d1",
  cost_eur: 0.02,
  requested_by: { kind: "source", id: "src_1", name: "shop" },
  requested_at: at(0),
  expires_at: at(3_600),
  min_approvals: 1,
};

const agentOf = (world: ReturnType<typeof notificationsWorld>) => {
  const tell = (type: string, data: JsonObject = {}) =>
    world.add("agent-agt_1", { type, data: { agent_id: "agt_1", ...data, at: at(9) } });
  return {
    register: () =>
      tell("AgentRegistered", {
        account: "acc_1",
        name: "refunds",
        policy_id: null,
        scope: { actions: ["*"] },
        key_id: "agk_1",
        digest: "00",
        last4: "wxyz",
      }),
    suspend: async (reason: string) => tell("AgentSuspended", { reason: await keepWords(world.log, "acc_1", reason) }),
    resume: () => tell("AgentResumed"),
    remove: () => tell("AgentDeleted"),
  };
};

const bodies = async (world: ReturnType<typeof notificationsWorld>) => (await world.told()).map(({ body }) => body);

test("subscribed endpoints are notified of an approval's request and of its decision", async () => {
  const world = notificationsWorld();
  await world.endpoint("end_all", NOTIFICATIONS);
  await world.endpoint("end_asked", ["approval.requested"]);
  await world.endpoint("end_agents", ["agent.suspended"]);
  await world.approval("apr_1", "granted");
  await world.react();
  const told = await world.told();
  const requested = { type: "approval.requested", timestamp: at(4), data: ABOUT };
  const decided = {
    type: "approval.decided",
    timestamp: at(5),
    data: { ...ABOUT, outcome: "approved", reason: null, decided_at: at(60) },
  };
  assert.equal(
    told.map(({ endpointId, body }) => [endpointId, body]),
    [
      ["end_all", requested],
      ["end_asked", requested],
      ["end_all", decided],
    ],
  );
  assert.is(new Set(told.map(({ eventId }) => eventId)).size, 3);
  assert.equal(
    world.offered.map(({ eventId, endpointId, body }) => ({ eventId, endpointId, body: JSON.parse(String(body)) })),
    told,
  );
});

for (const [end, outcome, reason] of [
  ["rejected", "rejected", null],
  ["expired", "expired", null],
  ["cancelled", "cancelled", "suspended"],
] as const) {
  test(`an approval that is ${end} is notified`, async () => {
    const world = notificationsWorld();
    await world.endpoint("end_1", ["approval.decided"]);
    await world.approval("apr_1", end);
    await world.react();
    const [body] = await bodies(world);
    assert.equal(body?.data, { ...ABOUT, outcome, reason, decided_at: at(60) });
  });
}

test("a notification has none of a person's words, which an erasure would not reach there", async () => {
  const world = notificationsWorld();
  const agent = agentOf(world);
  await world.endpoint("end_1", NOTIFICATIONS);
  await agent.register();
  await agent.suspend("too much for Bo");
  await world.approval("apr_1", "rejected");
  await world.approval("apr_2");
  const said = { sentence: "The agent was suspended", words: await keepWords(world.log, "acc_1", "no, says Bo") };
  await world.add("approval-apr_2", approvalFacts("apr_2").cancelled(60, said));
  await world.react();
  const all = await bodies(world);
  assert.equal(
    all.flatMap(({ type, data }) => (type === "approval.decided" ? [(data as JsonObject).reason] : [])),
    [null, "The agent was suspended"],
  );
  assert.not.match(JSON.stringify(all), /Bo/);
});

test("each suspension of an agent is notified, and each resumption", async () => {
  const world = notificationsWorld();
  const agent = agentOf(world);
  await world.endpoint("end_1", ["agent.suspended", "agent.resumed"]);
  await agent.register();
  await agent.suspend("too much");
  await world.react();
  await agent.resume();
  await agent.suspend("again");
  await world.react();
  assert.equal(
    (await bodies(world)).map(({ type, data }) => [type, data]),
    [
      ["agent.suspended", { agent_id: "agt_1", name: "refunds", suspended_at: at(9) }],
      ["agent.resumed", { agent_id: "agt_1", name: "refunds", resumed_at: at(9) }],
      ["agent.suspended", { agent_id: "agt_1", name: "refunds", suspended_at: at(9) }],
    ],
  );
});

test("an agent that was deleted meanwhile has no name any more", async () => {
  const world = notificationsWorld();
  const agent = agentOf(world);
  await world.endpoint("end_1", ["agent.suspended"]);
  await agent.register();
  await agent.suspend("too much");
  await agent.remove();
  await world.react();
  const data = { agent_id: "agt_1", name: null, suspended_at: at(9) };
  assert.equal((await bodies(world))[0]?.data, data);
});

test("a threshold of a policy's budget is notified with its day", async () => {
  const world = notificationsWorld();
  await world.endpoint("end_1", ["budget.threshold"]);
  const about = { policy_id: "pol_a", account: "acc_1", version: 1, created_by: "mem_1", at: at(0) };
  await world.add("policy-pol_a", {
    type: "PolicyPublished",
    data: { ...about, definition: { name: "payments", budget_eur_day: 10 } },
  });
  const data = { threshold: 80, used: 8_020_000, limit: 10_000_000 };
  for (const stream of ["ledger-pol_a-2026-03-01", "ledger-pol_a.run-x", "ledger-acc_1-2026-03"])
    await world.add(stream, { type: "BudgetThresholdReached", data });
  await world.react();
  const said = { policy_id: "pol_a", name: "payments", day: "2026-03-01" };
  assert.equal(
    (await bodies(world)).map((body) => body.data),
    [{ ...said, threshold_percent: 80, used_eur: 8.02, budget_eur_day: 10 }],
  );
});

test("a notification is a system event without gates and cost, in the trace of its cause", async () => {
  const world = notificationsWorld();
  await world.endpoint("end_1", ["approval.requested"]);
  await world.approval("apr_1");
  await world.react();
  const eventId = eventIdOf("acc_1", "approval.requested", "apr_1/end_1");
  const [admitted] = await world.log.read(`delivery-${eventId}`, null, 10);
  const [kept] = await world.log.read(payloadStream(eventId), null, 10);
  const [cause] = await world.log.read("approval-apr_1", null, 1);
  const body = Buffer.from(String(kept?.data.body));
  const commitment = saltedHash(Buffer.from(String(kept?.data.salt), "base64"), body);
  const now = new Date(START).toISOString();
  assert.equal(admitted?.data, {
    event_id: eventId,
    origin: { kind: "system", id: "approval.requested", name: "approval.requested", type: "notification" },
    delivery_key: "apr_1/end_1",
    type: "approval.requested",
    payload: { id: `${eventId}/0`, revision: 0, commitment, content_type: "application/json", size: body.length },
    endpoint_id: "end_1",
    verdict: { decision: "allow", policy: null, gates: [] },
    cost: null,
    received_at: now,
    authenticated_at: now,
    at: now,
  });
  assert.equal(admitted?.meta.actor, { kind: "system", id: "notifications" });
  assert.equal([admitted?.meta.causation_id, admitted?.meta.trace_id], [cause?.id, cause?.meta.trace_id]);
});

test("other accounts, unsubscribed and deleted endpoints are not notified, and failed notifications cause none", async () => {
  const world = notificationsWorld();
  await world.endpoint("end_other", NOTIFICATIONS, "acc_2");
  await world.endpoint("end_gone", NOTIFICATIONS);
  await world.endpoint("end_quiet", NOTIFICATIONS);
  // The view has not heard of these two yet.
  await world.add("endpoint-end_gone", { type: "EndpointDeleted", data: { endpoint_id: "end_gone", at: at(1) } });
  const changes = { notifications: ["agent.suspended"] };
  await world.add("endpoint-end_quiet", {
    type: "EndpointChanged",
    data: { endpoint_id: "end_quiet", changes, at: at(1) },
  });
  await world.approval("apr_1", "granted");
  await world.react();
  assert.equal(await world.told(), []);

  await world.endpoint("end_1", NOTIFICATIONS);
  await world.react();
  const { length } = await world.told();
  for (let i = 0; i < 3; i += 1) {
    await world.project();
    await world.react();
  }
  assert.equal([length, (await world.told()).length], [2, 2]);
});

test("however often and by however many nodes it is reacted to, each is made once", async () => {
  const world = notificationsWorld();
  for (const id of ["end_1", "end_2"]) await world.endpoint(id, NOTIFICATIONS);
  await world.approval("apr_1", "rejected");
  const nodes = [world, ...Array.from({ length: 3 }, () => world.another())];
  await Promise.all(nodes.map((node) => node.react()));
  await Promise.all(nodes.map((node) => node.react()));
  const told = await world.told();
  assert.is(told.length, 4);
  assert.is(new Set(told.map(({ eventId }) => eventId)).size, 4);
});

/** Dies before the append of that number. */
const dying = (log: EventLog, before: number): EventLog => {
  let appends = 0;
  return failingLog(log, () => {
    appends += 1;
    return appends > before;
  });
};

for (const before of [0, 1, 2, 3]) {
  test(`a process that is killed after ${before} appends: the next one continues, and each notification is made once`, async () => {
    const world = notificationsWorld();
    for (const id of ["end_1", "end_2"]) await world.endpoint(id, NOTIFICATIONS);
    await world.approval("apr_1");
    let isDead = false;
    await world
      .another(dying(world.log, before))
      .react()
      .catch(() => {
        isDead = true;
      });
    assert.ok(isDead);
    await world.another().react();
    const told = await world.told();
    assert.equal(
      told.map(({ endpointId }) => endpointId),
      ["end_1", "end_2"],
    );
    for (const { eventId } of told) {
      const kept = await world.log.read(payloadStream(eventId), null, 10);
      assert.is(kept.length, 1);
      const { salt, body } = kept[0]?.data ?? {};
      const [admitted] = await world.log.read(`delivery-${eventId}`, null, 1);
      const commitment = saltedHash(Buffer.from(String(salt), "base64"), Buffer.from(String(body)));
      assert.is(admitted === undefined ? "" : fieldOf(admitted, "payload", "commitment"), commitment);
    }
  });
}

test("a payload that was erased does not come back", async () => {
  const world = notificationsWorld();
  await world.endpoint("end_1", NOTIFICATIONS);
  await world.approval("apr_1");
  await world.react();
  const [told] = await world.told();
  const stream = payloadStream(String(told?.eventId));
  await world.log.erase(stream);
  await world.another().react();
  assert.equal(await world.log.read(stream, null, 10), []);
});

test("a payload that a slower node stores after the erasure of the same notification is gone as well", async () => {
  const world = notificationsWorld();
  await world.endpoint("end_1", NOTIFICATIONS);
  await world.approval("apr_1");
  let erased = "";
  const slower: EventLog = {
    ...world.log,
    async append(stream, expected, events) {
      if (stream.startsWith("payload-") && erased === "") {
        erased = stream;
        await world.react();
        const [told] = await world.told();
        const id = String(told?.eventId);
        const data = { event_id: id, reason: "asked for", up_to: 0, at: at(9) };
        await world.add(`delivery-${id}`, { type: "PayloadErased", data });
        await world.log.erase(stream);
      }
      return world.log.append(stream, expected, events);
    },
  };
  await world.another(slower).react();
  assert.equal([erased !== "", await world.log.read(erased, null, 10)], [true, []]);
});

test("a notification waits for the view of endpoints without an error, and misses no subscriber", async () => {
  const world = notificationsWorld();
  await world.endpoint("end_1", NOTIFICATIONS);
  await world.approval("apr_1");
  world.view.isBehind = true;
  const waiting = await world.react();
  assert.match(waiting?.waitsFor ?? "", /^the view endpoints.v3 .* approval.requested$/);
  assert.equal(await world.told(), []);
  world.view.isBehind = false;
  assert.is(await world.react(), undefined);
  assert.is((await world.told()).length, 1);
});

test("of too many subscribers the oldest are notified", async () => {
  const world = notificationsWorld();
  for (let n = 0; n < SUBSCRIBERS_MAX + 2; n += 1) await world.endpoint(`end_${100 + n}`, NOTIFICATIONS);
  await world.approval("apr_1");
  await world.react();
  const told = (await world.told()).map(({ endpointId }) => endpointId);
  assert.equal(
    told,
    Array.from({ length: SUBSCRIBERS_MAX }, (_, n) => `end_${100 + n}`),
  );
});

const endpointFact = (endpoint_id: string, type: string, data: JsonObject = {}) =>
  ({ type, data: { endpoint_id, ...data, at: at(9) } }) as const;

test("how an endpoint is goes to the others that subscribe, by its name, and not to itself", async () => {
  const world = notificationsWorld();
  await world.endpoint("end_app", NOTIFICATIONS);
  await world.endpoint("end_pager", NOTIFICATIONS);
  const counts = { consecutive_failures: 10, attempts: 12, failed: 12 };
  const tell = (type: string, data: JsonObject) => world.add("endpoint-end_app", endpointFact("end_app", type, data));
  await tell("EndpointDegraded", counts);
  const opened = { ...counts, reason: "failures-in-a-row", failing_since: at(5), next_probe_at: at(19) };
  await tell("EndpointOpened", opened);
  await tell("EndpointProbed", { event_id: "evt_1", probe: 1, next_probe_at: at(39) });
  await tell("EndpointWarned", { failing_since: at(5), disables_at: at(99) });
  await tell("EndpointRecovered", { from: "open", since: at(9) });
  await tell("EndpointDisabled", { reason: "410" });
  await tell("EndpointEnabled", {});
  await world.react();
  await world.react();
  const told = await world.told();
  assert.equal([...new Set(told.map(({ endpointId }) => endpointId))], ["end_pager"]);
  const about = { endpoint_id: "end_app", name: "orders" };
  assert.equal(
    told.map(({ body }) => [body.type, body.data]),
    [
      ["endpoint.degraded", { ...about, ...counts, degraded_at: at(9) }],
      ["endpoint.opened", { ...about, ...opened, opened_at: at(9) }],
      ["endpoint.warned", { ...about, failing_since: at(5), disables_at: at(99), warned_at: at(9) }],
      ["endpoint.recovered", { ...about, from: "open", since: at(9), recovered_at: at(9) }],
      ["endpoint.disabled", { ...about, reason: "410", disabled_at: at(9) }],
    ],
  );
});

test("each failed delivery is notified to the other endpoints; a failed notification is not", async () => {
  const world = notificationsWorld();
  await world.endpoint("end_1", NOTIFICATIONS);
  await world.endpoint("end_pager", NOTIFICATIONS);
  const is = deliveryFacts("evt_1", "end_1");
  const stream = "delivery-evt_1";
  await world.add(stream, { type: "EventAdmitted", data: is.admitted().data });
  for (const fact of [is.started(1, 5), is.attemptFailed(1, 6, null), is.failed(6)]) await world.add(stream, fact);
  const origin = { kind: "system", id: "agent.resumed", name: "agent.resumed", type: "notification" } as const;
  const own = deliveryFacts("evt_2", "end_1");
  for (const fact of [own.admitted({ origin }), own.failed(6)]) await world.add("delivery-evt_2", fact);
  await world.react();
  const told = (await world.told()).filter(({ body }) => body.type === "delivery.failed");
  assert.equal(
    told.map(({ endpointId, body }) => [endpointId, body.data]),
    [
      [
        "end_pager",
        {
          event_id: "evt_1",
          event_type: "payment_intent.succeeded",
          origin: { kind: "source", id: "src_1", name: "shop" },
          endpoint_id: "end_1",
          attempts: 1,
          failure: SERVER_ERROR,
          failed_at: at(6),
        },
      ],
    ],
  );
});

test.run();
