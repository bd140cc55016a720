import { Ajv2020 } from "ajv/dist/2020.js";
import { Webhook } from "standardwebhooks";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { headerDigests } from "../../../../infra/crypto/header-digest.ts";
import { randomness } from "../../../../infra/crypto/randomness.ts";
import { secretBox } from "../../../../infra/crypto/secret-box.ts";
import { addressRules } from "../../../../infra/http/addresses.ts";
import type { Lookup } from "../../../../infra/http/resolve.ts";
import { systemResolver } from "../../../../infra/http/resolve.ts";
import { memoryEventLog } from "../../../../infra/memory/event-log.ts";
import { memoryViewStore } from "../../../../infra/memory/view-store.ts";
import { endpoints } from "../../../../projections/endpoints.ts";
import { sources } from "../../../../projections/sources.ts";
import { outbound } from "../../../../src/delivery/outbound.ts";
import type { Call, Principal } from "../../../../src/http/route.ts";
import { NOTIFICATIONS } from "../../../../src/notifications/names.ts";
import { ENDPOINT_CHANGES } from "../../../../src/routes/endpoints/endpoint-input.ts";
import { endpointRoutes } from "../../../../src/routes/endpoints/endpoints.ts";
import { aggregates } from "../../../../src/streams/aggregates.ts";
import { type Fact, toEvents } from "../../../../src/streams/envelope.ts";
import { AT, caller, callOf } from "../../../support/call.ts";
import { foldInto } from "../../../support/fold-into.ts";
import { misbehavingServer, plainAnswer } from "../../../support/misbehaving-server.ts";
import { noControls } from "../../../support/no-controls.ts";
import { planSlots } from "../../../support/plan-slots.ts";
import { testSender } from "../../../support/test-sender.ts";

const test = suite("endpoint routes");

const publicLookup: Lookup = (hostname, _options, callback) =>
  callback(null, [{ address: hostname.startsWith("inside") ? "10.0.0.7" : "93.184.216.34" }]);

const owner = (account: string): Principal => ({ kind: "key", account, id: "key_1", role: "admin" });

const world = (key = randomness.bytes(32)) => {
  const now = { ms: Date.parse(AT) };
  const clock = { now: () => now.ms };
  const log = memoryEventLog();
  const views = memoryViewStore([endpoints.schema, sources.schema]);
  const box = secretBox(key, randomness);
  const woken = { times: 0 };
  const streams = aggregates(log, clock);
  const call = caller(
    endpointRoutes({
      recordCall: async () => undefined,
      aggregates: streams,
      controls: noControls,
      slots: planSlots(log, clock, streams),
      views,
      box,
      headerDigest: headerDigests(key),
      addresses: addressRules(["127.0.0.0/8"], systemResolver(publicLookup)),
      sender: testSender(),
      outbound: outbound(box, "0.0.0"),
      policyExists: async () => true,
      clock,
      wake: () => {
        woken.times += 1;
      },
    }),
  );
  const principal = owner("acc_1");
  const one = (id: unknown, more: Partial<Call> = {}): Partial<Call> => ({
    principal,
    params: { id: String(id) },
    ...more,
  });
  return {
    now,
    log,
    woken,
    call,
    principal,
    one,
    register: (body: object = {}, more: Partial<Call> = {}) =>
      call("POST", "/v1/endpoints", {
        principal,
        body: { name: "shop", url: "https://example.com/hook", ...body },
        ...more,
      }),
    project: () => foldInto(log, views, [endpoints, sources]),
    recorded: async () => JSON.stringify(await log.readAll(null, 500)),
  };
};

const HEALTHY = {
  state: "healthy",
  success_rate_1h: null,
  p50_ms: null,
  p99_ms: null,
  consecutive_failures: 0,
  last_success_at: null,
  last_failure: null,
  since: null,
  next_probe_at: null,
  queued: 0,
};

test("an endpoint is registered with the defaults and shows its secret this once", async () => {
  const { register, call, one, recorded } = world();
  const { outcome, body } = await register();
  assert.is(outcome, 201);
  const { id, signing_secret, ...shown } = body;
  assert.match(String(id), /^end_[a-z2-7]{32}$/);
  assert.match(String(signing_secret), /^whsec_[A-Za-z0-9+/]{43}=$/);
  assert.equal(shown, {
    name: "shop",
    url: "https://example.com/hook",
    timeout_ms: 15_000,
    retry_schedule_s: [5, 30, 120, 600, 1800, 7200, 18_000, 36_000, 36_000, 86_400],
    concurrency: 16,
    rate_per_second: null,
    headers: {},
    notifications: [],
    policy_id: null,
    disabled: null,
    created_at: AT,
    health: HEALTHY,
  });
  const read = await call("GET", "/v1/endpoints/{id}", one(id));
  assert.equal([read.outcome, read.body], [200, { id, ...shown }]);
  assert.not.match(await recorded(), String(signing_secret).slice(6));
});

test("the same command again registers the same endpoint with the same secret, also on another node", async () => {
  const { register, log } = world();
  const principal = owner("acc_1");
  const { envelope, secret } = callOf({ principal });
  const again = { envelope, secret };
  const [first, second] = [await register({}, again), await register({}, again)];
  assert.equal(second.body, first.body);
  const registered = (await log.readAll(null, 10)).filter(({ type }) => type === "EndpointRegistered");
  assert.is(registered.length, 1);
});

for (const [url, host, address, rule] of [
  ["http://10.0.0.1/", "10.0.0.1", "10.0.0.1", "private"],
  ["http://0xa9fea9fe/latest", "169.254.169.254", "169.254.169.254", "cloud-metadata"],
  ["https://inside.example/", "inside.example", "10.0.0.7", "private"],
  ["https://user:pass@example.com/", "example.com", null, "userinfo"],
  ["gopher://example.com/", "example.com", null, "scheme"],
  ["nonsense", "", null, "not-a-url"],
] as const) {
  test(`${url} is refused by the rule ${rule}, at registration and at a change`, async () => {
    const { register, call, one } = world();
    const made = await register({ url });
    assert.is(made.outcome, "address-not-allowed");
    for (const part of [host, address ?? "", rule]) assert.match(made.detail, part);
    const { id } = (await register()).body;
    assert.is((await call("PATCH", "/v1/endpoints/{id}", one(id, { body: { url } }))).outcome, "address-not-allowed");
  });
}

test("an opened range can be registered", async () => {
  assert.is((await world().register({ url: "http://127.0.0.1:9000/hook" })).outcome, 201);
});

test("header values are sealed in the log and shown redacted", async () => {
  const { register, project, call, principal, recorded } = world();
  const { body } = await register({ headers: { Authorization: "Bearer top-secret", "x-tenant": "42" } });
  const redacted = { authorization: "[redacted]", "x-tenant": "[redacted]" };
  assert.equal(body.headers, redacted);
  assert.not.match(await recorded(), "top-secret");
  await project();
  const list = await call("GET", "/v1/endpoints", { principal });
  assert.equal((list.body.data as { headers: unknown }[])[0]?.headers, redacted);
});

for (const headers of [
  { host: "x" },
  { "Content-Length": "1" },
  { "webhook-id": "x" },
  { "bad name": "x" },
  { "x-a": "a\r\nx-b: c" },
  { "x-a": "gr\u00fcn" },
  { "x-a": "1", "X-A": "2" },
  { "x-a": "[redacted]" },
  { a: "v".repeat(4_096), b: "v".repeat(4_096) },
]) {
  test(`the headers ${JSON.stringify(headers).slice(0, 40)} are refused`, async () => {
    assert.is((await world().register({ headers })).outcome, "invalid-request");
  });
}

test("what it is told of is what it subscribed to last, and only what there is can be subscribed to", async () => {
  const { register, call, one, project, principal } = world();
  const { id, notifications } = (await register({ notifications: ["approval.requested", "agent.suspended"] })).body;
  assert.equal(notifications, ["approval.requested", "agent.suspended"]);
  const body = { notifications: ["budget.threshold"] };
  assert.equal((await call("PATCH", "/v1/endpoints/{id}", one(id, { body }))).body.notifications, body.notifications);
  await project();
  const list = await call("GET", "/v1/endpoints", { principal });
  const [listed] = list.body.data as { readonly notifications: unknown }[];
  assert.equal(listed?.notifications, body.notifications);

  const isTaken = new Ajv2020({ allowUnionTypes: true, strictTypes: false }).compile(ENDPOINT_CHANGES);
  for (const taken of [[], [...NOTIFICATIONS]]) assert.ok(isTaken({ notifications: taken }));
  for (const refused of [["delivery.lost"], ["approval.*"], [7], ["agent.resumed", "agent.resumed"], "agent.resumed"])
    assert.not(isTaken({ notifications: refused }), JSON.stringify(refused));
});

test("a change shows at once, and what waits may be affected", async () => {
  const { register, call, one, woken } = world();
  const { id } = (await register()).body;
  const changed = await call("PATCH", "/v1/endpoints/{id}", one(id, { body: { name: " new ", rate_per_second: 5 } }));
  assert.equal([changed.outcome, changed.body.name, changed.body.rate_per_second], [200, "new", 5]);
  assert.is(woken.times, 1);
  assert.is((await call("GET", "/v1/endpoints/{id}", one(id))).body.name, "new");
});

test("deleting ends it; it is gone from the list and answers 404", async () => {
  const { register, call, one, principal, project } = world();
  const { id } = (await register()).body;
  await register({ name: "other" });
  assert.is((await call("DELETE", "/v1/endpoints/{id}", one(id))).outcome, 204);
  await project();
  const list = await call("GET", "/v1/endpoints", { principal });
  assert.equal(
    (list.body.data as { name: string }[]).map(({ name }) => name),
    ["other"],
  );
  for (const [method, path] of [
    ["GET", ""],
    ["DELETE", ""],
    ["POST", "/secret"],
    ["POST", "/enable"],
    ["POST", "/test"],
  ] as const)
    assert.is((await call(method, `/v1/endpoints/{id}${path}`, one(id))).outcome, "not-found", path);
});

const sourceFacts = (facts: readonly Fact[]) => toEvents(facts, callOf({ principal: owner("acc_1") }).envelope);
const sourceRegistered = (id: string, endpoint_id: string) =>
  sourceFacts([
    {
      type: "SourceRegistered",
      data: {
        source_id: id,
        account: "acc_1",
        type: "stripe",
        name: "shop",
        policy_id: null,
        endpoint_id,
        status: "active",
        secret: "sealed",
        auth: null,
        dedupe: null,
        at: AT,
      },
    },
  ]);

test("an endpoint that sources send to is not deleted: the answer names them and says what to do", async () => {
  const { register, call, one, project, log } = world();
  const id = String((await register()).body.id);
  const other = String((await register({ name: "other" })).body.id);
  await log.append("source-src_shop", "absent", sourceRegistered("src_shop", id));
  await log.append("source-src_else", "absent", sourceRegistered("src_else", other));
  await project();
  const refused = await call("DELETE", "/v1/endpoints/{id}", one(id));
  assert.is(refused.outcome, "endpoint-in-use");
  assert.match(refused.detail, /shop \(src_shop\)/);
  assert.match(refused.detail, "Change their endpoint or delete them");
  assert.not.match(refused.detail, "src_else");
  assert.is((await call("GET", "/v1/endpoints/{id}", one(id))).outcome, 200);
});

for (const [change, event] of [
  ["given another endpoint", { type: "SourceChanged", data: { changes: { endpoint_id: null } } }],
  ["deleted", { type: "SourceDeleted", data: {} }],
] as const) {
  test(`a source that was ${change} does not hold its endpoint, also before the view knows`, async () => {
    const { register, call, one, project, log } = world();
    const id = String((await register()).body.id);
    await log.append("source-src_shop", "absent", sourceRegistered("src_shop", id));
    await project();
    const data = { source_id: "src_shop", account: "acc_1", at: AT, ...event.data };
    await log.append("source-src_shop", 0, sourceFacts([{ type: event.type, data }]));
    assert.is((await call("DELETE", "/v1/endpoints/{id}", one(id))).outcome, 204);
  });
}

test("another account's endpoint is as one that never was, on every route", async () => {
  const { register, call, one, log, project } = world();
  const { id } = (await register()).body;
  await project();
  const before = (await log.readAll(null, 10)).length;
  const principal = owner("acc_2");
  for (const [method, path] of [
    ["GET", ""],
    ["PATCH", ""],
    ["DELETE", ""],
    ["POST", "/secret"],
    ["POST", "/enable"],
    ["POST", "/test"],
  ] as const) {
    const route = `/v1/endpoints/{id}${path}`;
    for (const over of [one(id, { principal }), one("end_nope"), one("../x"), one(`end_${"a".repeat(32)}`)])
      assert.is((await call(method, route, { ...over, body: { name: "x" } })).outcome, "not-found", route);
  }
  assert.equal((await call("GET", "/v1/endpoints", { principal })).body.data, []);
  assert.is((await log.readAll(null, 10)).length, before);
});

test("a test event is sent right away, signed with both secrets while they overlap, with the endpoint's headers", async () => {
  const server = await misbehavingServer({ onRequest: (socket) => socket.write(plainAnswer("204 No Content")) });
  const { register, call, one, log, now, principal } = world();
  // The independent verifier looks at the real clock.
  now.ms = Date.now();
  const { envelope } = callOf({ principal });
  const made = (await register({ url: server.url, headers: { authorization: "Bearer top-secret" } })).body;
  const today = { ...envelope, at: new Date(now.ms).toISOString() };
  const rotated = await call("POST", "/v1/endpoints/{id}/secret", one(made.id, { envelope: today }));
  assert.is(rotated.outcome, 200);
  const recorded = (await log.readAll(null, 10)).length;

  const tested = await call("POST", "/v1/endpoints/{id}/test", one(made.id));
  assert.equal([tested.body.outcome, tested.body.status_code, tested.body.failure], ["succeeded", 204, null]);
  assert.equal(Object.keys(tested.body.timings_ms as object), ["dns", "connect", "tls", "first_byte", "total"]);
  const [request] = server.requests;
  const headers = Object.fromEntries(
    (request?.head ?? "")
      .split("\r\n")
      .slice(1)
      .map((line) => line.split(": ") as [string, string]),
  );
  assert.is(headers.authorization, "Bearer top-secret");
  assert.is(headers["content-type"], "application/json");
  for (const secret of [made.signing_secret, rotated.body.signing_secret]) {
    const verified = new Webhook(String(secret)).verify(String(request?.body), headers) as { type: string };
    assert.is(verified.type, "countersign.test");
  }
  assert.is((await log.readAll(null, 10)).length, recorded, "a test is no event");
  await server.close();
});

/** Opened by its deliveries, an hour ago. */
const openCircuit = (id: unknown) => ({
  type: "EndpointOpened",
  data: {
    endpoint_id: String(id),
    consecutive_failures: 10,
    attempts: 10,
    failed: 10,
    reason: "failures-in-a-row",
    failing_since: "2026-03-01T10:59:00.000Z",
    next_probe_at: "2026-03-01T11:05:00.000Z",
    at: "2026-03-01T11:00:00.000Z",
  },
});

test("an open endpoint is shown with its next probe; a test that arrives, and enabling, closes it", async () => {
  let answer = "500 Oops";
  const server = await misbehavingServer({ onRequest: (socket) => socket.write(plainAnswer(answer)) });
  const { register, call, one, log, woken, now } = world();
  const { id } = (await register({ url: server.url })).body;
  const { envelope } = callOf({ principal: owner("acc_1") });
  const health = async () => {
    const { body } = await call("GET", "/v1/endpoints/{id}", one(id));
    const { state, next_probe_at } = body.health as { state: string; next_probe_at: string | null };
    return [state, next_probe_at];
  };
  for (const [n, close] of ["test", "enable"].entries()) {
    const events = toEvents([openCircuit(id)], { ...envelope, commandId: `open ${n}` });
    await log.append(`endpoint-${id}`, "any", events);
    now.ms += 1_000;
    assert.equal(await health(), ["open", "2026-03-01T11:05:00.000Z"]);
    answer = "500 Oops";
    const failed = await call("POST", "/v1/endpoints/{id}/test", one(id));
    assert.equal([failed.body.outcome, await health()], ["failed", ["open", "2026-03-01T11:05:00.000Z"]]);
    answer = "204 No Content";
    const wakes = woken.times;
    assert.is((await call("POST", `/v1/endpoints/{id}/${close}`, one(id))).outcome, 200);
    assert.equal([await health(), woken.times], [["healthy", null], wakes + 1]);
  }
  await server.close();
});

test("a test that fails says how", async () => {
  const server = await misbehavingServer({ onRequest: (socket) => socket.write(plainAnswer("500 Oops")) });
  const { register, call, one } = world();
  const { id } = (await register({ url: server.url })).body;
  const failed = (await call("POST", "/v1/endpoints/{id}/test", one(id))).body;
  assert.equal([failed.outcome, failed.status_code], ["failed", 500]);
  assert.equal(failed.failure, { kind: "http-5xx", detail: "The receiver answered 500" });
  await server.close();
  const gone = (await call("POST", "/v1/endpoints/{id}/test", one(id))).body;
  assert.equal([gone.outcome, gone.status_code, (gone.failure as { kind: string }).kind], ["failed", null, "connect"]);
});

test("a redacted value that is sent back keeps what there is; a header left out goes", async () => {
  const server = await misbehavingServer({ onRequest: (socket) => socket.write(plainAnswer("200 OK")) });
  const { register, call, one } = world();
  const { id } = (await register({ url: server.url, headers: { "x-a": "kept", "x-b": "gone" } })).body;
  const headers = { "X-A": "[redacted]", "x-c": "new" };
  const changed = await call("PATCH", "/v1/endpoints/{id}", one(id, { body: { headers } }));
  assert.equal(changed.body.headers, { "x-a": "[redacted]", "x-c": "[redacted]" });
  await call("POST", "/v1/endpoints/{id}/test", one(id));
  const head = server.requests[0]?.head ?? "";
  assert.match(head, "x-a: kept");
  assert.match(head, "x-c: new");
  assert.not.match(head, "x-b");
  await server.close();
});

test("enabling answers the endpoint and wakes what waits", async () => {
  const { register, call, one, woken } = world();
  const { id } = (await register()).body;
  const enabled = await call("POST", "/v1/endpoints/{id}/enable", one(id));
  assert.equal([enabled.outcome, enabled.body.disabled], [200, null]);
  assert.is(woken.times, 1);
});

test("the newest secrets sign, and no more of them than the header has room for", async () => {
  const { register, call, one } = world();
  const { id } = (await register()).body;
  const outcomes: (number | string)[] = [];
  for (let n = 0; n < 6; n += 1) outcomes.push((await call("POST", "/v1/endpoints/{id}/secret", one(id))).outcome);
  assert.equal(outcomes, [200, 200, 200, 200, "conflict", "conflict"]);
});

test.run();
