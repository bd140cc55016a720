import { suite } from "uvu";
import * as assert from "uvu/assert";
import { PLANS } from "../../../domain/account/plans.ts";
import { dayIn, monthOf } from "../../../domain/calendar.ts";
import type { RecordedEvent } from "../../../domain/ports/event-log.ts";
import { systemClock } from "../../../infra/clock.ts";
import { randomness } from "../../../infra/crypto/randomness.ts";
import { memoryEventLog } from "../../../infra/memory/event-log.ts";
import { ledgers } from "../../../src/ledgers/ledgers.ts";
import { NO_TRACE } from "../../../src/streams/envelope.ts";
import { defineAction, registerAgent } from "../../support/agent.ts";
import { awayFromMidnight, awayFromMonthEnd } from "../../support/calendar-room.ts";
import { type Client, hookSource, type Reply, signUp } from "../../support/client.ts";
import { serviceInProcess } from "../../support/service-in-process.ts";
import { until } from "../../support/until.ts";

const test = suite("refusals that are only counted");

await awayFromMidnight();
await awayFromMonthEnd();
// The first node that stops must not close the other one's log.
const log = { ...memoryEventLog(), close: async () => undefined };
const nodes = [await serviceInProcess({}, { log }), await serviceInProcess({}, { log })] as const;
const [{ base }, other] = nodes;

const { storedBytesDay: stored, refusedBytesDay: refused, refusedRecordsDay, counts, eventsPerMonth } = PLANS.free;
const LIMITS = { stored, refused, refused_records: refusedRecordsDay };
/** Sent in each test: far more than the records that an account leaves for other reasons. */
const SENT = 20;

const placesOfOthers = () =>
  ledgers({
    ...{ log, clock: systemClock, randomness, orphanAgeMs: 0, placeStatus: async () => "spent" as const },
    onError: (error) => {
      throw error;
    },
  });

/** As if other nodes had taken all of it but so many. */
const takeAllBut = async (stream: string, account: string, limit: number, left: number): Promise<void> => {
  const places = placesOfOthers();
  const name = "lease_elsewhere";
  const taken = await places.reserve({
    stream,
    account,
    event: name,
    limits: { count: limit },
    trace: NO_TRACE,
    places: limit - left,
  });
  assert.ok(taken.answer.granted);
  await places.settleNow({ stream, account, event: name, cost: 0, trace: NO_TRACE });
};

const leaveOnly = ({ account }: Client, kind: keyof typeof LIMITS, left: number): Promise<void> =>
  takeAllBut(`ledger-${account}-${kind}-${dayIn("UTC", Date.now())}`, account, LIMITS[kind], left);

/** An account whose refusals leave no record of their own any more; both nodes have found that out. */
const usedUp = async (): Promise<Client> => {
  const client = await signUp(base);
  await leaveOnly(client, "refused", 0);
  await leaveOnly(client, "refused_records", 0);
  const policy = await client.make("/v1/policies", { name: "never", require_fields: ["never"] });
  const agent = await registerAgent(base, client, { policy_id: policy.id });
  const endpoint = await client.make("/v1/endpoints", { name: "first", url: "http://127.0.0.1:9/" });
  await defineAction(client, "first.try", endpoint.id);
  for (const at of [base, other.base])
    assert.is((await agent.at(at).execute(`first ${at}`, { action: "first.try", payload: {} })).status, 422);
  return client;
};

const recordsOf = async (account: string): Promise<readonly RecordedEvent[]> => {
  const records: RecordedEvent[] = [];
  for (let after: string | null = null; ; ) {
    const page = await log.readAll(after, 1_000);
    records.push(...page.filter(({ meta }) => meta.account === account));
    after = page.at(-1)?.position ?? after;
    if (page.length < 1_000) return records;
  }
};

/** What an account's requests have left, without what is counted for a minute, or settled up to a second later. */
const left = async ({ account }: Client): Promise<number> =>
  (await recordsOf(account)).filter(({ stream, type }) => !/^(calls|personal)-/.test(stream) && type !== "Settled")
    .length;

/** Refusals of a source or an agent that are to be in the log once both nodes have stopped. */
const expected: { readonly client: Client; readonly subject: string; readonly kind: string; readonly count: number }[] =
  [];

const counted = async (account: string, subject: string, kind: string): Promise<number> =>
  (await recordsOf(account))
    .filter(({ stream, type }) => stream === `calls-${subject}` && type === "RequestsRefused")
    .reduce((sum, { data }) => sum + ((data.counts as Record<string, number>)[kind] ?? 0), 0);

type Send = (n: number) => Promise<Reply>;

/** Each is answered as any refusal, and nothing is left of it but a count. Answers the last one. */
const assertOnlyCounted = async (client: Client, send: Send, code: string): Promise<Reply> => {
  // What a first request opens, as the ledger of a day, is there for all that follow.
  await send(-1);
  const before = await left(client);
  let last = await send(0);
  for (let n = 1; n < SENT; n += 1) last = await send(n);
  assert.is(last.body.code, code);
  assert.is(await left(client), before);
  return last;
};

test("beyond the allowances a denied webhook gets its answer and leaves only a count", async () => {
  const client = await usedUp();
  const policy = await client.make("/v1/policies", { name: "orders", require_fields: ["order"] });
  const source = await hookSource(client, { policy_id: policy.id });
  const { status, body } = await assertOnlyCounted(
    client,
    (n) => source.send(`${n}`, { filler: "x".repeat(n * 1_000 + 1_000) }),
    "gate-require-fields",
  );
  assert.is(status, 422);
  assert.equal(
    body.verdict.gates.map(({ gate, outcome }: Record<string, unknown>) => [gate, outcome]),
    [["require_fields", "deny"]],
  );
  const event = `/v1/events/${body.event_id}`;
  assert.is((await client.call("GET", event)).status, 404);
  assert.is((await client.call("POST", `${event}/replay`, {}, { "idempotency-key": "r" })).status, 404);
  expected.push({ client, subject: source.id, kind: "require_fields/missing-fields", count: SENT + 1 });
});

test("a request denied by a quota, a full day or too many holds never takes a place in a policy's ledgers", async () => {
  const client = await usedUp();
  const { account } = client;
  const limits = { rate_per_minute: 100_000, budget_eur_day: 100_000, cost: { fixed_eur: 0.01 } };
  const loop = { max_identical: 1_000, window_s: 600 };
  const policy = await client.make("/v1/policies", { name: "counting", ...limits, loop });
  const source = await hookSource(client, { policy_id: policy.id });
  const holding = await client.make("/v1/policies", { name: "held", ...limits, approval: { expires_after_s: 3_600 } });
  const agent = await registerAgent(base, client, { policy_id: holding.id });
  const ask: Send = (n) => agent.execute(`${n}`, { action: "first.try", payload: { n } });

  await takeAllBut(`ledger-${account}-held_approvals`, account, counts.held_approvals, 0);
  await assertOnlyCounted(client, ask, "limit-reached");
  expected.push({ client, subject: agent.id, kind: "approval/limit-reached", count: SENT + 1 });

  await takeAllBut(`ledger-${account}-${monthOf(Date.now())}`, account, eventsPerMonth, 0);
  const send: Send = (n) => source.send(`${n}`, { n });
  const { headers } = await assertOnlyCounted(client, send, "gate-quota");
  assert.ok(Number(headers.get("retry-after")) > 0);
  expected.push({ client, subject: source.id, kind: "quota/quota-reached", count: SENT + 1 });

  await leaveOnly(client, "stored", 0);
  const storing = await registerAgent(base, client, { policy_id: policy.id });
  const store: Send = (n) => storing.execute(`${n}`, { action: "first.try", payload: { n } });
  const full = await assertOnlyCounted(client, store, "gate-quota");
  assert.is(full.body.verdict.gates.at(-1).gate, "bytes");
  expected.push({ client, subject: storing.id, kind: "bytes/bytes-reached", count: SENT + 1 });
});

test("agents' requests and bundles beyond the allowances are only counted, by each of two nodes", async () => {
  const client = await usedUp();
  const policy = await client.make("/v1/policies", { name: "poor", budget_eur_day: 1, cost: { fixed_eur: 2 } });
  const agent = await registerAgent(base, client, { policy_id: policy.id });
  const at = (n: number) => agent.at(n % 2 === 0 ? base : other.base);
  await assertOnlyCounted(client, (n) => at(n).execute(`${n}`, { action: "first.try", payload: { n } }), "gate-budget");
  await assertOnlyCounted(
    client,
    (n) => at(n).bundle(`${n}`, [{ action: "first.try", payload: { n } }]),
    "gate-budget",
  );
  expected.push({ client, subject: agent.id, kind: "budget/budget-spent", count: 2 * (SENT + 1) });
});

test("a repeat of an admitted event is a duplicate, also on a node that would only count it", async () => {
  const client = await usedUp();
  const source = await hookSource(client);
  assert.is((await source.send("1", { n: 1 })).status, 202);
  const policy = await client.make("/v1/policies", { name: "never", require_fields: ["never"] });
  await client.call("PATCH", `/v1/sources/${source.id}`, { policy_id: policy.id });
  const elsewhere = source.at(other.base);
  await until("the other node refuses", async () => (await elsewhere.send("2", { n: 2 })).status === 422);
  const again = await elsewhere.send("1", { n: 1 });
  assert.equal([again.status, again.body.duplicate], [200, true]);
});

test("two nodes record exactly as many heads as the allowance has left, and each can be read", async () => {
  const client = await signUp(base);
  await leaveOnly(client, "refused", 0);
  await leaveOnly(client, "refused_records", 3);
  const policy = await client.make("/v1/policies", { name: "never", require_fields: ["never"] });
  const source = await hookSource(client, { policy_id: policy.id });
  const elsewhere = source.at(other.base);
  const replies = await Promise.all(
    Array.from({ length: SENT }, (_, n) =>
      (n % 2 === 0 ? source : elsewhere).send(`${n}`, { filler: "x".repeat(5_000) }),
    ),
  );
  assert.equal(new Set(replies.map(({ status }) => status)), new Set([422]));
  const blocked = (await recordsOf(client.account)).filter(({ type }) => type === "EventBlocked");
  assert.is(blocked.length, 3);
  for (const { data } of blocked) {
    await until("the event is shown", async () => {
      const { body } = await client.call("GET", `/v1/events/${String(data.event_id)}`);
      return body.payload?.kept === "head";
    });
  }
});

test("every denial that is only counted is in the log by gate and code, for its source or agent", async () => {
  for (const node of nodes) await node.stop();
  for (const { client, subject, kind, count } of expected)
    assert.is(await counted(client.account, subject, kind), count, kind);
});

test.run();
