import { Webhook } from "standardwebhooks";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { type Client, hookSource, persistently, type Reply, signUp } from "../support/client.ts";
import { type EngineSet, type Engines, engineSets } from "../support/engine-sets.ts";
import { type Program, removeFolder, startProgram, until } from "../support/program.ts";
import { type Receiver, receiver } from "../support/receiver.ts";

const eventIs = (client: Client, id: string, status: string): Promise<Reply> =>
  until(`${id} is ${status}`, async () => {
    const shown = await client.call("GET", `/v1/events/${id}`);
    return shown.body.status === status ? shown : null;
  });

const statuses = (replies: readonly Reply[]): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const { status, body } of replies) {
    const name = `${status} ${body.code ?? body.status}`;
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
};

/** The whole program over real sockets: what a stranger with the README sees. */
const promises = ({ name, open }: EngineSet): void => {
  const test = suite(`the program: ${name}`);
  let engines: Engines;
  let program: Program;
  let target: Receiver;

  test.before(async () => {
    engines = await open();
    [program, target] = await Promise.all([startProgram(engines.env), receiver()]);
  });
  test.after(async () => {
    await program.stop();
    await target.close();
    removeFolder(program.dir);
    await engines.close();
  });
  test.before.each(() => {
    target.arrivals.length = 0;
    target.answer((_arrival, response) => response.setHeader("content-type", "application/json").end('{"ok":true}'));
  });

  const endpoint = (client: Client, more: Record<string, unknown> = {}) =>
    client.make("/v1/endpoints", { name: "app", url: target.url, ...more });

  test("a signed webhook is answered 202, arrives once under its event id and a signature that holds, and is shown", async () => {
    const client = await signUp(program.url);
    const app = await endpoint(client);
    const source = await hookSource(client, { endpoint_id: app.id });
    const sent = await source.send("order-1", { id: "order-1", amount: 12 });
    assert.is(sent.status, 202);
    assert.is(sent.body.status, "queued");
    const shown = await eventIs(client, sent.body.event_id, "delivered");
    const [arrival] = target.arrivals;
    assert.is(target.arrivals.length, 1);
    assert.is(arrival?.headers["webhook-id"], sent.body.event_id);
    assert.is(arrival?.body, '{"id":"order-1","amount":12}');
    new Webhook(app.signing_secret).verify(arrival?.body ?? "", arrival?.headers as Record<string, string>);
    assert.is(shown.body.attempts[0].status_code, 200);
    assert.equal(
      shown.body.timeline.map((step: { stage: string }) => step.stage),
      ["received", "authenticated", "gated", "admitted", "attempt", "delivered"],
    );
  });

  test("without a destination an event is recorded", async () => {
    const client = await signUp(program.url);
    const source = await hookSource(client);
    const sent = await source.send("only-kept");
    assert.equal([sent.status, sent.body.status], [202, "recorded"]);
    await eventIs(client, sent.body.event_id, "recorded");
  });

  test("P2: 50 requests with one delivery id at once are one event, 49 duplicates and one delivery", async () => {
    const client = await signUp(program.url);
    const source = await hookSource(client, { endpoint_id: (await endpoint(client)).id });
    const replies = await Promise.all(Array.from({ length: 50 }, () => source.send("same", { n: 1 })));
    assert.is(replies.filter((it) => it.status === 202).length, 1);
    assert.is(replies.filter((it) => it.status === 200 && it.body.duplicate === true).length, 49);
    const id = replies[0]?.body.event_id;
    await eventIs(client, id, "delivered");
    await until("the duplicates are counted", async () => {
      const { body } = await client.call("GET", `/v1/events/${id}`);
      return body.duplicates === 49;
    });
    assert.is(target.arrivals.length, 1);
  });

  test("the same delivery id with another body is refused and recorded", async () => {
    const client = await signUp(program.url);
    const source = await hookSource(client);
    const first = await source.send("reused", { n: 1 });
    const second = await source.send("reused", { n: 2 });
    assert.equal([second.status, second.body.code], [409, "delivery-id-reused"]);
    assert.is(second.body.event_id, first.body.event_id);
    await until("it is in the audit", async () => {
      const { body } = await client.call("GET", `/v1/audit?type=DeliveryIdReused&subject=${first.body.event_id}`);
      return body.data.length === 1;
    });
  });

  test("P6: 300 at once against 20 a minute: exactly 20 are admitted, the others are told when to retry", async () => {
    const client = await signUp(program.url);
    const policy = await client.make("/v1/policies", { name: "slow", rate_per_minute: 20 });
    const source = await hookSource(client, { policy_id: policy.id });
    const replies = await Promise.all(
      Array.from({ length: 300 }, (_, n) => persistently(() => source.send(`rate-${n}`))),
    );
    assert.equal(statuses(replies), { "202 recorded": 20, "429 gate-rate": 280 });
    const refused = replies.find((it) => it.status === 429);
    assert.ok(Number(refused?.headers.get("retry-after")) > 0);
    assert.is(refused?.body.verdict.decision, "deny");
  });

  test("P6: 200 at once against 1 euro a day at 7 cents: exactly 14 are admitted", async () => {
    const client = await signUp(program.url);
    const policy = await client.make("/v1/policies", { name: "thrifty", budget_eur_day: 1, cost: { fixed_eur: 0.07 } });
    const source = await hookSource(client, { policy_id: policy.id });
    const replies = await Promise.all(
      Array.from({ length: 200 }, (_, n) => persistently(() => source.send(`budget-${n}`))),
    );
    assert.equal(statuses(replies), { "202 recorded": 14, "429 gate-budget": 186 });
  });

  test("ready and the status page name the deliverer among the parts that work", async () => {
    const { status, body } = await (await signUp(program.url)).call("GET", "/ready");
    // An embedded log has no clock but this machine's.
    const clock = name === "embedded" ? {} : { clock: "ok" };
    assert.equal([status, body.checks], [200, { log: "ok", views: "ok", ...clock, projector: "ok", deliverer: "ok" }]);
    const { components } = (await (await fetch(`${program.url}/public/status/summary`)).json()) as Reply["body"];
    assert.ok(components.some((it: { name: string }) => it.name === "deliverer"));
  });

  test("WooCommerce's ping is answered with an empty body", async () => {
    const client = await signUp(program.url);
    const { ingest_url } = await client.make("/v1/sources", { name: "shop", type: "woocommerce" });
    const ping = { method: "POST", body: new URLSearchParams({ webhook_id: "7" }) };
    const answer = await fetch(ingest_url, ping);
    assert.equal([answer.status, await answer.text()], [200, ""]);
  });

  test("a cost that cannot be determined is refused for good, and the answer says what is missing", async () => {
    const client = await signUp(program.url);
    const policy = await client.make("/v1/policies", { name: "exact", budget_eur_day: 1, cost: { pointer: "amount" } });
    const source = await hookSource(client, { policy_id: policy.id });
    const { status, body } = await source.send("priceless", { id: "priceless" });
    assert.equal([status, body.code, body.retryable], [429, "gate-budget", false]);
    assert.match(body.detail, "no amount at amount");
  });

  test("a refused request takes no place: its gates are recorded and nothing is billed", async () => {
    const client = await signUp(program.url);
    const policy = await client.make("/v1/policies", {
      name: "strict",
      rate_per_minute: 1,
      require_fields: ["data.object.id"],
      schema: { type: "object", properties: { amount: { type: "number" } } },
      deny: [{ name: "no large amounts", when: "payload.amount > 500" }],
    });
    const source = await hookSource(client, { policy_id: policy.id });
    const good = { amount: 5, data: { object: { id: "x" } } };
    const replies = [
      await source.send("a", { amount: 5 }),
      await source.send("b", { ...good, amount: "five" }),
      await source.send("c", { ...good, amount: 501 }),
      await source.send("d", good),
      await source.send("e", good),
    ];
    assert.equal(
      replies.map((it) => `${it.status} ${it.body.code ?? it.body.status}`),
      ["422 gate-require-fields", "422 gate-schema", "422 gate-content", "202 recorded", "429 gate-rate"],
    );
    await eventIs(client, replies[0]?.body.event_id, "blocked");
    await until("usage says one event", async () => {
      const { body } = await client.call("GET", "/v1/billing/summary");
      return body.usage.events === 1 && body.usage.blocked === 4;
    });
  });

  test("a policy that only observes admits violations, flagged", async () => {
    const client = await signUp(program.url);
    const policy = await client.make("/v1/policies", {
      name: "watch",
      require_fields: ["id"],
      block_on_violation: false,
    });
    const source = await hookSource(client, { policy_id: policy.id });
    const sent = await source.send("watched", { other: 1 });
    assert.is(sent.status, 202);
    const shown = await eventIs(client, sent.body.event_id, "recorded");
    assert.is(shown.body.verdict.decision, "allow");
    assert.is(shown.body.verdict.observed, true);
    assert.is(shown.body.verdict.gates[0].outcome, "deny");
  });

  test("P3: a receiver that fails and recovers gets the event, every attempt under one webhook-id", async () => {
    const client = await signUp(program.url);
    const app = await endpoint(client, { retry_schedule_s: [1, 1, 1] });
    const source = await hookSource(client, { endpoint_id: app.id });
    let calls = 0;
    target.answer((_arrival, response) => {
      calls += 1;
      response.writeHead(calls < 3 ? 500 : 200).end("later");
    });
    const sent = await source.send("stubborn");
    const shown = await eventIs(client, sent.body.event_id, "delivered");
    assert.equal(
      shown.body.attempts.map((it: { outcome: string }) => it.outcome),
      ["failed", "failed", "succeeded"],
    );
    assert.equal([...target.counts()], [[sent.body.event_id, 3]]);
  });

  test("410 fails the event at once and disables the endpoint; enabled again, what waited is delivered", async () => {
    const client = await signUp(program.url);
    const app = await endpoint(client);
    const source = await hookSource(client, { endpoint_id: app.id });
    target.answer((_arrival, response) => response.writeHead(410).end());
    await eventIs(client, (await source.send("gone")).body.event_id, "failed");
    await until("the endpoint is disabled", async () => {
      const { body } = await client.call("GET", `/v1/endpoints/${app.id}`);
      return body.health.state === "disabled";
    });
    target.answer((_arrival, response) => response.end("ok"));
    const waiting = await source.send("waits");
    assert.is(waiting.status, 202);
    assert.is((await client.call("POST", `/v1/endpoints/${app.id}/enable`)).status, 200);
    await eventIs(client, waiting.body.event_id, "delivered");
  });

  test("badly signed requests are refused with the reason and counted, not recorded one by one", async () => {
    const client = await signUp(program.url);
    const source = await hookSource(client);
    const forged = await source.send("x", { n: 1 }, { "x-signature": "0".repeat(64) });
    assert.equal([forged.status, forged.body.code, forged.body.reason], [401, "invalid-signature", "mismatch"]);
    const unsigned = await fetch(source.url, { method: "POST", body: "{}" });
    assert.is(((await unsigned.json()) as { reason: string }).reason, "missing");
    const { body } = await client.call("GET", "/v1/events");
    assert.is(body.data.length, 0);
  });

  test("paused, deleted, unknown and mistyped sources get the documented answers", async () => {
    const client = await signUp(program.url);
    const source = await hookSource(client);
    await client.call("PATCH", `/v1/sources/${source.id}`, { status: "paused" });
    assert.equal((await source.send("p")).body.code, "source-paused");
    await client.call("PATCH", `/v1/sources/${source.id}`, { status: "active" });
    assert.is((await source.send("q")).status, 202);
    const wrong = await fetch(source.url.replace("/hmac/", "/stripe/"), { method: "POST", body: "{}" });
    assert.is(wrong.status, 404);
    await client.call("DELETE", `/v1/sources/${source.id}`);
    assert.is((await source.send("r")).status, 404);
  });

  test("P11: nothing of one account is found with another's credential", async () => {
    const [mine, yours] = await Promise.all([signUp(program.url), signUp(program.url)]);
    const app = await endpoint(mine);
    const policy = await mine.make("/v1/policies", { name: "p" });
    const source = await hookSource(mine, { endpoint_id: app.id, policy_id: policy.id });
    const sent = await source.send("secret");
    await eventIs(mine, sent.body.event_id, "delivered");
    const unknown = (await yours.call("GET", "/v1/events/evt_never")).body;
    for (const path of [
      `/v1/sources/${source.id}`,
      `/v1/endpoints/${app.id}`,
      `/v1/policies/${policy.id}`,
      `/v1/policies/${policy.id}/versions`,
      `/v1/events/${sent.body.event_id}`,
      `/v1/events/${sent.body.event_id}/payload`,
      `/v1/events/${sent.body.event_id}/attempts`,
      `/v1/events/${sent.body.event_id}/timeline`,
    ]) {
      const answer = await yours.call("GET", path);
      assert.is(answer.status, 404, path);
      assert.equal({ ...answer.body, trace_id: "" }, { ...unknown, trace_id: "" }, path);
    }
    for (const [method, path] of [
      ["PATCH", `/v1/sources/${source.id}`],
      ["PATCH", `/v1/endpoints/${app.id}`],
    ] as const) {
      assert.is((await yours.call(method, path, { name: "taken" })).status, 404);
    }
    for (const path of [`/v1/sources/${source.id}`, `/v1/endpoints/${app.id}`]) {
      assert.is((await yours.call("DELETE", path)).status, 404);
    }
    for (const path of ["/v1/events", "/v1/sources", "/v1/endpoints", "/v1/policies"]) {
      assert.equal((await yours.call("GET", path)).body.data, [], path);
    }
    const refused = await yours.call("POST", "/v1/sources", { name: "s", type: "hmac", endpoint_id: app.id });
    assert.ok(refused.status >= 400 && refused.status < 500);
  });

  test("one's own write is seen by a read that asks for its position", async () => {
    const client = await signUp(program.url);
    for (let n = 0; n < 10; n += 1) {
      const made = await client.call("POST", "/v1/policies", { name: `policy ${n}` });
      const position = made.headers.get("countersign-position");
      const { body } = await client.call("GET", `/v1/policies?after=${position}&limit=100`);
      assert.is(body.data.length, n + 1);
    }
  });

  test.run();
};

for (const engineSet of engineSets()) promises(engineSet);
