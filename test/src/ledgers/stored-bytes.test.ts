import { createHash } from "node:crypto";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { PLANS } from "../../../domain/account/plans.ts";
import { dayIn } from "../../../domain/calendar.ts";
import { systemClock } from "../../../infra/clock.ts";
import { randomness } from "../../../infra/crypto/randomness.ts";
import { RECORDS_BYTES } from "../../../src/admission/intake.ts";
import { ledgers } from "../../../src/ledgers/ledgers.ts";
import { NO_TRACE } from "../../../src/streams/envelope.ts";
import { defineAction, registerAgent } from "../../support/agent.ts";
import { awayFromMidnight } from "../../support/calendar-room.ts";
import { type Client, type HookSource, hookSource, type Reply, signUp } from "../../support/client.ts";
import { receiver } from "../../support/receiver.ts";
import { serviceInProcess } from "../../support/service-in-process.ts";
import { until } from "../../support/until.ts";

const test = suite("bytes that are stored");

await awayFromMidnight();
const running = await serviceInProcess();
test.after(() => running.stop());

const LIMITS = {
  stored: PLANS.free.storedBytesDay,
  refused: PLANS.free.refusedBytesDay,
  refused_records: PLANS.free.refusedRecordsDay,
};
/** Below the size from which bodies wait for their turn, which the plan of these accounts makes long. */
const LARGE = 60_000;
const HEAD_BYTES = 4_096;
const AT_ONCE = 5;

type Tenant = { readonly client: Client; readonly source: HookSource };

/** On the free plan. Its policy refuses what has no `order`. */
const tenant = async (): Promise<Tenant> => {
  const client = await signUp(running.base);
  const { id } = await client.make("/v1/policies", { name: "orders", require_fields: ["order"] });
  return { client, source: await hookSource(client, { policy_id: id }) };
};

/** As if other nodes had leased all of the account's allowance of today but so many bytes. */
const leaveOnly = async ({ account }: Client, kind: keyof typeof LIMITS, bytes: number): Promise<void> => {
  const limit = LIMITS[kind];
  const places = ledgers({
    ...{ log: running.log, clock: systemClock, randomness, orphanAgeMs: 0 },
    placeStatus: async () => "spent",
    onError: (error) => {
      throw error;
    },
  });
  const stream = `ledger-${account}-${kind}-${dayIn("UTC", Date.now())}`;
  const name = "lease_elsewhere";
  const taken = await places.reserve({
    stream,
    account,
    event: name,
    limits: { count: limit },
    trace: NO_TRACE,
    places: limit - bytes,
  });
  assert.ok(taken.answer.granted);
  await places.settleNow({ stream, account, event: name, cost: 0, trace: NO_TRACE });
};

/** What is stored of an account's bodies. */
const storedBytes = (account: string): Promise<number> => writtenBytes(account, "payload-");

/** What is stored of an account in streams whose names begin so. */
const writtenBytes = async (account: string, prefix = ""): Promise<number> => {
  let bytes = 0;
  for (let after: string | null = null; ; ) {
    const page = await running.log.readAll(after, 100);
    for (const { stream, meta, data, position } of page) {
      if (stream.startsWith(prefix) && meta.account === account) bytes += JSON.stringify(data).length;
      after = position;
    }
    if (page.length < 100) return bytes;
  }
};

const eventOf = async (client: Client, { headers, body }: Reply): Promise<Reply["body"]> => {
  const after = headers.get("countersign-position");
  const shown = await client.call("GET", `/v1/events/${body.event_id}${after === null ? "" : `?after=${after}`}`);
  if (shown.status === 404) return eventOf(client, { status: 0, headers, body });
  return shown.body;
};

test("an attacker's refused bodies leave no more on disk than the allowance and heads, and nothing of a victim's is refused", async () => {
  const attacker = await tenant();
  const victim = await tenant();
  await leaveOnly(attacker.client, "refused", 3 * LARGE);
  const before = await storedBytes(attacker.client.account);
  for (let from = 0; from < 30; from += AT_ONCE) {
    const attempts = Array.from({ length: AT_ONCE }, async (_, index) => {
      const n = from + index;
      const { status } = await attacker.source.send(`${n}`, { filler: `${n}`.padEnd(LARGE, "x") });
      assert.is(status, 422);
      assert.is((await victim.source.send(`${n}`, { order: n, filler: "x".repeat(10_000) })).status, 202);
    });
    await Promise.all(attempts);
  }
  const left = (await storedBytes(attacker.client.account)) - before;
  // Headers, ids and JSON around each of them.
  const aroundEach = 1_000;
  assert.ok(left <= 3 * LARGE + 30 * (HEAD_BYTES + aroundEach), `${left}`);
  assert.ok(left >= 2 * LARGE + 27 * HEAD_BYTES, `${left}`);
});

test("beyond the allowance a refused body's head and hash are kept, and a replay says that the rest is not", async () => {
  const { client, source } = await tenant();
  await leaveOnly(client, "refused", 9_000);
  const whole = await source.send("whole", { filler: "w".repeat(6_000) });
  const cut = await source.send("cut", { filler: "c".repeat(50_000) });
  const short = await source.send("short", { filler: "s".repeat(3_000) });
  assert.equal([whole.status, cut.status, short.status], [422, 422, 422]);
  const event = await eventOf(client, cut);
  assert.equal(
    [event.payload.kept, event.payload.size],
    ["head", JSON.stringify({ filler: "c".repeat(50_000) }).length],
  );
  assert.match(event.payload.sha256, /^[0-9a-f]{64}$/);
  assert.is((await eventOf(client, whole)).payload.kept, "whole");
  // What is no longer than a head is whole in any case.
  assert.is((await eventOf(client, short)).payload.kept, "whole");
  const { headers, body: shown } = await client.call("GET", `/v1/events/${event.id}/payload`);
  assert.is(headers.get("countersign-payload-kept"), "head");
  assert.is(shown, JSON.stringify({ filler: "c".repeat(50_000) }).slice(0, HEAD_BYTES));
  const replay = await client.call("POST", `/v1/events/${event.id}/replay`, {}, { "idempotency-key": "r1" });
  assert.equal([replay.status, replay.body.code], [409, "payload-not-kept"]);
  const curl = await client.call("GET", `/v1/events/${event.id}/curl`);
  assert.equal([curl.status, curl.body.code], [409, "payload-not-kept"]);
  const again = await client.call("POST", `/v1/events/${whole.body.event_id}/replay`, {}, { "idempotency-key": "r2" });
  assert.is(again.status, 422, "it goes through the gates again");
  const many = await client.call("POST", "/v1/replays", { filter: { status: "blocked" }, dry_run: true });
  assert.is(many.body.count, 2, "a replay of many leaves it out");
});

test("the same refused body sent again is stored and counted once, and its records each time", async () => {
  const { client, source } = await tenant();
  await leaveOnly(client, "refused", 45_000);
  const before = await storedBytes(client.account);
  for (let n = 0; n < 10; n += 1) {
    const { status, body } = await source.send("same", { filler: "x".repeat(10_000) });
    assert.equal([status, body.code], [422, "gate-require-fields"]);
  }
  const left = (await storedBytes(client.account)) - before;
  assert.ok(left < 12_000, `${left}`);
  const other = await source.send("other", { filler: "y".repeat(9_000) });
  assert.is((await eventOf(client, other)).payload.kept, "whole");
  const third = await source.send("third", { filler: "z".repeat(9_000) });
  assert.is((await eventOf(client, third)).payload.kept, "head");
});

test("headers that stand in every record of a refused request are short, so none of them leaves more than a head", async () => {
  const { client, source } = await tenant();
  await leaveOnly(client, "refused", 0);
  const before = await writtenBytes(client.account);
  const long = "a".repeat(9_000);
  for (const headers of [
    { "content-type": `a/${long}` },
    { "content-encoding": `gzip, ${long}` },
    { "x-delivery-id": long },
    { "x-other": long },
    { "user-agent": long },
  ]) {
    const answer = await source.send(`${Object.keys(headers)}`, {}, headers);
    assert.equal([answer.status, answer.body.code], [422, "gate-require-fields"]);
  }
  const left = (await writtenBytes(client.account)) - before;
  // Two records each, with their ids and JSON.
  assert.ok(left <= 5 * (HEAD_BYTES + 4_000), `${left}`);
});

test("a sender that is allowed later than refused sends the whole body again, and that is delivered", async () => {
  const { client, source } = await tenant();
  await leaveOnly(client, "refused", 0);
  const payload = { filler: "x".repeat(10_000) };
  assert.is((await source.send("late", payload)).status, 422);
  const { id } = await client.make("/v1/policies", { name: "anything" });
  await client.call("PATCH", `/v1/sources/${source.id}`, { policy_id: id });
  const admitted = await source.send("late", payload);
  assert.is(admitted.status, 202);
  assert.is((await eventOf(client, admitted)).payload.kept, "whole");
  const { body } = await client.call("GET", `/v1/events/${admitted.body.event_id}/payload`);
  assert.equal(body, payload);
});

test("admitted and held bytes count for the day: beyond it webhooks, agents and bundles are refused, and a victim is not", async () => {
  const { client, source } = await tenant();
  const victim = await tenant();
  await leaveOnly(client, "stored", 40_000);
  const endpoint = await client.make("/v1/endpoints", { name: "app", url: "http://127.0.0.1:9/" });
  await defineAction(client, "order.create", endpoint.id);
  const policy = await client.make("/v1/policies", { name: "held", approval: { expires_after_s: 3_600 } });
  const asking = await registerAgent(running.base, client, { policy_id: policy.id });
  const agent = await registerAgent(running.base, client);
  const filler = "x".repeat(15_000);
  const execute = (who: typeof agent, key: string) =>
    who.execute(key, { action: "order.create", payload: { filler }, wait_ms: 0 });
  assert.is((await source.send("first", { order: 1, filler })).status, 202);
  assert.is((await execute(asking, "held")).body.status, "held");
  const assertFull = ({ status, headers, body }: Reply, about: string): void => {
    assert.equal([status, body.code], [429, "gate-quota"], about);
    assert.equal(body.verdict.gates.at(-1).gate, "bytes", about);
    assert.ok(Number(headers.get("retry-after")) > 0, about);
  };
  assertFull(await source.send("second", { order: 2, filler }), "webhook");
  assertFull(await execute(agent, "agent"), "agent");
  assertFull(await execute(asking, "asking"), "held");
  assertFull(await agent.bundle("bundle", [{ action: "order.create", payload: { filler } }]), "bundle");
  assert.is((await victim.source.send("first", { order: 1, filler })).status, 202);
  // It took no event of the month's quota with it, and what fits still passes.
  const small = await source.send("third", { order: 3 });
  assert.is(small.status, 202);
  const refused = await source.send("second", { order: 2, filler });
  assert.is((await eventOf(client, refused)).status, "blocked");
});

const answering = (body: string) => async (tenant: Client) => {
  const app = await receiver();
  app.answer((_arrival, response) => response.setHeader("content-type", "application/json").end(body));
  const endpoint = await tenant.make("/v1/endpoints", { name: "app", url: app.url });
  return { app, endpoint };
};

/** What the event's first attempt was answered, once it is delivered and that is stored. */
const responseOf = async (client: Client, eventId: string): Promise<Reply["body"]> => {
  let response: Reply["body"] = null;
  await until("its answer is shown", async () => {
    const { body } = await client.call("GET", `/v1/events/${eventId}`);
    response = body.status === "delivered" ? body.attempts[0].response : null;
    return response !== null;
  });
  return response;
};

test("receivers' answers count for the day; beyond it each answer leaves a head and its hash, and all is delivered", async () => {
  const client = await signUp(running.base);
  const body = JSON.stringify({ filler: "r".repeat(50_000) });
  const { app, endpoint } = await answering(body)(client);
  const source = await hookSource(client, { endpoint_id: endpoint.id });
  const sent = 8;
  await leaveOnly(client, "stored", 120_000);
  const before = await storedBytes(client.account);
  const responses: Reply["body"][] = [];
  for (let n = 0; n < sent; n += 1) {
    const admitted = await source.send(`${n}`, { n });
    assert.is(admitted.status, 202);
    responses.push(await responseOf(client, admitted.body.event_id));
  }
  assert.is(app.arrivals.length, sent);
  assert.equal(
    responses.map(({ kept }) => kept),
    ["whole", "whole", ...Array.from({ length: sent - 2 }, () => "head")],
  );
  const [whole] = responses;
  assert.equal([whole.body, whole.truncated, whole.sha256], [body, false, null]);
  const last = responses.at(-1);
  const sha256 = createHash("sha256").update(body).digest("hex");
  assert.equal([last.body, last.truncated, last.sha256], [body.slice(0, 1_024), true, sha256]);
  assert.is(last.headers["content-type"], "application/json", "headers of a usual length are kept");
  const left = (await storedBytes(client.account)) - before;
  // The allowance, and for each event a head with both sides' headers, ids and JSON.
  assert.ok(left <= 120_000 + sent * 4_000, `${left}`);
  await app.close();
});

test("an agent's answer is whole if it is short, also when the day's bytes are used up, and says what is cut off", async () => {
  const client = await signUp(running.base);
  const { app, endpoint } = await answering("")(client);
  const answerAs = (body: string): void =>
    app.answer((_arrival, response) => {
      // So much of each value is kept.
      const long = Object.fromEntries(["a", "b", "c"].map((name) => [`x-${name}`, name.repeat(1_024)]));
      const headers = { "content-type": "application/json", ...long };
      response.writeHead(200, headers).end(body);
    });
  await defineAction(client, "order.create", endpoint.id);
  const agent = await registerAgent(running.base, client);
  // Enough for both requests, and too little for the headers of an answer.
  await leaveOnly(client, "stored", 2 * RECORDS_BYTES + 300);
  answerAs('{"ok":true}');
  const short = await agent.execute("short", { action: "order.create", payload: {} });
  assert.equal([short.status, short.body.result], [200, { status_code: 200, body: { ok: true } }]);
  const long = JSON.stringify({ filler: "r".repeat(5_000) });
  answerAs(long);
  const cut = await agent.execute("long", { action: "order.create", payload: {} });
  assert.is(cut.status, 200);
  assert.equal(cut.body.result, { status_code: 200, body: long.slice(0, 1_024), truncated: true });
  const response = await responseOf(client, cut.body.event_id);
  const headers = { "content-type": "application/json" };
  assert.equal([response.kept, response.headers], ["head", headers], "of long headers the type is kept");
  await app.close();
});

test("a policy that only observes does not lift the limit on bytes", async () => {
  const { client } = await tenant();
  await leaveOnly(client, "stored", RECORDS_BYTES + 1_000);
  const observing = await client.make("/v1/policies", { name: "o", block_on_violation: false, require_fields: ["x"] });
  const agent = await registerAgent(running.base, client, { policy_id: observing.id });
  const endpoint = await client.make("/v1/endpoints", { name: "app", url: "http://127.0.0.1:9/" });
  await defineAction(client, "order.create", endpoint.id);
  const { status } = await agent.execute("key", { action: "order.create", payload: { filler: "x".repeat(2_000) } });
  assert.is(status, 429);
});

test.run();
