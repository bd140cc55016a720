import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { PLANS } from "../../../domain/account/plans.ts";
import type { EventLog, Position } from "../../../domain/ports/event-log.ts";
import { LogUnavailable } from "../../../infra/log-errors.ts";
import { memoryEventLog } from "../../../infra/memory/event-log.ts";
import { type PositionText, positionText } from "../../../src/http/position-text.ts";
import type { Principal, Route } from "../../../src/http/route.ts";
import { problem } from "../../../src/streams/problems.ts";
import {
  ADMIN_KEY,
  bearer,
  COOKIE,
  echo,
  POSITIONS,
  PUBLIC_URL,
  SAME_ORIGIN,
  testApp,
  testClock,
  VIEWER_KEY,
} from "../../support/http-app.ts";
import { until } from "../../support/until.ts";

const JSON_TYPE = { "content-type": "application/json" };
const admin = { ...bearer("csk_admin") };
const post = (payload: unknown, headers: Record<string, string> = {}) => ({
  method: "POST" as const,
  url: "/v1/things",
  headers: { ...JSON_TYPE, ...admin, ...headers },
  payload: typeof payload === "string" || Buffer.isBuffer(payload) ? payload : JSON.stringify(payload),
});
const read = (over: Partial<Route> = {}): Route => {
  const { body: _none, ...route } = echo({ method: "GET", path: "/v1/things/{id}", answers: { 200: {} }, ...over });
  return route;
};

const test = suite("the route table");

test("a call reaches its route with what the schemas made of it", async () => {
  const app = await testApp([echo()]);
  const answer = await app.inject(post({ name: "a" }));
  assert.is(answer.statusCode, 201);
  assert.is(answer.headers["countersign-position"], POSITIONS.of("0000000000000007"));
  assert.is(answer.headers["cache-control"], "no-store");
  assert.is(answer.headers["x-content-type-options"], "nosniff");
  const call = answer.json();
  assert.equal(call.body, { name: "a", size: 1 });
  assert.is(call.envelope.account, "acc_a");
  assert.equal(call.envelope.actor, { kind: "key", id: "key_admin" });
  assert.is(call.envelope.at, "2026-03-01T12:00:00.000Z");
  assert.match(call.envelope.commandId, /^cmd_[a-z2-7]{32}$/);
});

test("a missing or invalid credential of any kind is 401 with a challenge", async () => {
  const app = await testApp([echo()]);
  const bad = [
    {},
    bearer("csk_nobody"),
    bearer("csa_nobody"),
    { authorization: "Basic YTpi" },
    { authorization: "Bearer" },
    { authorization: "Bearer a b" },
    { cookie: "__Host-session=stale", ...SAME_ORIGIN },
    { cookie: "__Host-session=" },
    { cookie: "session=owner" },
  ];
  for (const headers of bad) {
    const { headers: mine, ...rest } = post({ name: "a" });
    const answer = await app.inject({ ...rest, headers: { "content-type": mine["content-type"], ...headers } });
    assert.is(answer.statusCode, 401, JSON.stringify(headers));
    assert.is(answer.json().code, "unauthenticated");
    assert.is(answer.headers["www-authenticate"], 'Bearer realm="countersign"');
  }
});

test("a session of another member than the one for whom a page was loaded is refused", async () => {
  const app = await testApp([echo({ who: { session: "viewer", key: "viewer" } })]);
  const statusFor = async (headers: Record<string, string>): Promise<number> => {
    const { headers: _none, ...rest } = post({ name: "a" });
    return (await app.inject({ ...rest, headers: { ...JSON_TYPE, ...SAME_ORIGIN, ...headers } })).statusCode;
  };
  assert.is(await statusFor(COOKIE), 201);
  assert.is(await statusFor({ ...COOKIE, "countersign-member": "mem_a" }), 201);
  for (const member of ["mem_b", "", "mem_a, mem_a"])
    assert.is(await statusFor({ ...COOKIE, "countersign-member": member }), 401, member);
  assert.is(await statusFor({ ...bearer("csk_admin"), "countersign-member": "mem_b" }), 201, "a key has no member");
});

test("an answer names the member of the session, and no one for a key or a visitor", async () => {
  const app = await testApp([echo({ who: { session: "viewer", key: "viewer" } })]);
  const namedFor = async (headers: Record<string, string>): Promise<unknown> => {
    const { headers: _none, ...rest } = post({ name: "a" });
    const answer = await app.inject({ ...rest, headers: { ...JSON_TYPE, ...SAME_ORIGIN, ...headers } });
    return answer.headers["countersign-member"];
  };
  assert.equal(
    [await namedFor(COOKIE), await namedFor(bearer("csk_admin")), await namedFor({ cookie: "__Host-session=nobody" })],
    ["mem_a", undefined, undefined],
  );
});

test("two credentials are refused, even if both hold", async () => {
  const app = await testApp([echo()]);
  for (const headers of [COOKIE, { cookie: "__Host-session=nobody" }]) {
    const answer = await app.inject(post({ name: "a" }, { ...headers, ...SAME_ORIGIN }));
    assert.is(answer.statusCode, 400);
    assert.is(answer.json().code, "mixed-credentials");
  }
  const twice = { cookie: "__Host-session=owner; a=b; __Host-session=other", authorization: "" };
  assert.is((await app.inject(post({ name: "a" }, { ...twice, ...SAME_ORIGIN }))).json().code, "mixed-credentials");
});

test("too weak a role and the wrong kind are 403", async () => {
  const app = await testApp([
    echo(),
    echo({ path: "/v1/members-only", who: { session: "viewer" } }),
    echo({ path: "/v1/keys-only", who: { key: "viewer" } }),
  ]);
  const weak = await app.inject(post({ name: "a" }, bearer("csk_viewer")));
  assert.is(weak.json().code, "forbidden");
  const key = await app.inject({ ...post({ name: "a" }), url: "/v1/members-only" });
  assert.match(key.json().detail, /needs a session/);
  const session = { ...JSON_TYPE, ...COOKIE, ...SAME_ORIGIN };
  const member = await app.inject({ ...post({ name: "a" }), url: "/v1/keys-only", headers: session });
  assert.match(member.json().detail, /needs an API key/);
});

test("the cross-site rule is about cookies: every credential, method, Origin and site", async () => {
  const METHODS = ["POST", "PUT", "PATCH", "DELETE", "GET"] as const;
  const things = METHODS.map((method) => {
    const { body: _none, ...route } = echo({ method, who: { session: "admin", key: "admin", agent: true } });
    return route;
  });
  const app = await testApp([...things, echo({ path: "/v1/login", who: "anyone" })]);
  const SITES = [undefined, "same-origin", "none", "same-site", "cross-site"];
  const ORIGINS = [undefined, PUBLIC_URL, "https://evil.example", "null"];
  const NONE: Record<string, string> = {};
  const send = async (method: (typeof METHODS)[number], url: string, sent: Record<string, string>): Promise<string> => {
    const withBody = url === "/v1/login" ? { payload: '{"name":"a"}', headers: { ...JSON_TYPE, ...sent } } : {};
    const { statusCode, body } = await app.inject({ method, url, headers: sent, ...withBody });
    return statusCode === 201 ? "taken" : JSON.parse(body).code;
  };
  for (const site of SITES) {
    for (const origin of ORIGINS) {
      const says = {
        ...(site === undefined ? {} : { "sec-fetch-site": site }),
        ...(origin === undefined ? {} : { origin }),
      };
      const isOwn = origin === undefined ? site === "same-origin" || site === "none" : origin === PUBLIC_URL;
      const where = JSON.stringify(says);
      for (const method of METHODS) {
        const bySession = isOwn || method === "GET" ? "taken" : "cross-site";
        assert.is(await send(method, "/v1/things", { ...COOKIE, ...says }), bySession, `${method} ${where}`);
        for (const key of ["csk_admin", "csa_agent"]) {
          assert.is(
            await send(method, "/v1/things", { ...bearer(key), ...says }),
            "taken",
            `${method} ${key} ${where}`,
          );
          const both = { ...COOKIE, ...bearer(key), ...says };
          assert.is(await send(method, "/v1/things", both), "mixed-credentials", `${method} ${where}`);
        }
        for (const none of [NONE, bearer("csk_nobody"), { authorization: "Basic YTpi" }])
          assert.is(await send(method, "/v1/things", { ...none, ...says }), "unauthenticated", `${method} ${where}`);
      }
      // A login sets a cookie: what a browser says of another site counts, with or without one that is there.
      const asVisitor = isOwn || where === "{}" ? "taken" : "cross-site";
      for (const cookie of [NONE, COOKIE, { authorization: "Basic YTpi" }])
        assert.is(await send("POST", "/v1/login", { ...cookie, ...says }), asVisitor, where);
      assert.is(await send("POST", "/v1/login", { ...bearer("csk_admin"), ...says }), "taken", where);
    }
  }
});

test("bodies are strict, and errors name the field", async () => {
  const app = await testApp([echo()]);
  const cases: [string, string][] = [
    ['{"name":"a","nmae":"b"}', "/nmae"],
    ["{}", "/name"],
    ['{"name":1}', "/name"],
    ['{"name":"a","size":"1"}', "/size"],
    ['{"name":"a","size":1e400}', "/size"],
    ['{"name":"a","name":"b"}', "/name"],
    ['{"name":"a","__proto__":{}}', "/__proto__"],
    ['{"name":"a","a/b~c":{}}', "/a~1b~0c"],
    ["[]", ""],
    ["null", ""],
    ['"x"', ""],
    ['{"name":"a"', ""],
    [`{"name":${"[".repeat(200_000)}${"]".repeat(200_000)}}`, "too large"],
    [`{"name":${"[".repeat(10_000)}${"]".repeat(10_000)}}`, ""],
  ];
  for (const [payload, path] of cases) {
    const answer = await app.inject(post(payload));
    if (path === "too large") assert.is(answer.statusCode, 413);
    else {
      assert.is(answer.statusCode, 400, payload.slice(0, 60));
      assert.is(answer.json().code, "invalid-request");
      assert.is(answer.json().errors[0].path, path);
    }
  }
});

test("an answer lists only the first of thousands of errors", async () => {
  const app = await testApp([echo()]);
  const body = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`f${index}`, 1]));
  const { errors } = (await app.inject(post(body))).json();
  assert.is(errors.length, 20);
});

test("a missing body is refused where one is needed; where none is, only an empty object may stand in", async () => {
  const { body: _none, ...bare } = echo({ path: "/v1/bare" });
  const app = await testApp([echo(), bare]);
  const empty = await app.inject({ method: "POST", url: "/v1/things", headers: admin });
  assert.match(empty.json().detail, /needs a JSON body/);
  assert.match((await app.inject(post(""))).json().detail, /needs a JSON body/);
  const send = (payload?: string) =>
    app.inject({
      method: "POST",
      url: "/v1/bare",
      headers: payload === undefined ? admin : { ...admin, ...JSON_TYPE },
      ...(payload === undefined ? {} : { payload }),
    });
  for (const payload of [undefined, "", "{}"]) assert.is((await send(payload)).statusCode, 201);
  for (const payload of ['{"a":1}', "[]", "0", "null"]) assert.is((await send(payload)).statusCode, 400, payload);
});

test("any other content type is 415, and no body is read for it", async () => {
  const app = await testApp([echo()]);
  const types = [
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/json; charset=utf-16",
    "application/json; charset=iso-8859-1",
    "application/merge-patch+json",
    "application/jsonp",
    "nonsense",
    "",
  ];
  for (const type of types) {
    const answer = await app.inject(post('{"name":"a"}', { "content-type": type }));
    assert.is(answer.statusCode, 415, type);
    assert.is(answer.json().code, "unsupported-media-type");
    assert.is(answer.headers["content-type"], "application/problem+json");
  }
  for (const type of ["application/json", "Application/JSON;charset=UTF-8", 'application/json; charset="utf-8"'])
    assert.is((await app.inject(post('{"name":"a"}', { "content-type": type }))).statusCode, 201, type);
});

test("256 KiB are a body, one byte more is 413", async () => {
  const app = await testApp([echo({ body: { type: "object", additionalProperties: true } })]);
  const body = (size: number) => `{"a":"${"x".repeat(size - 8)}"}`;
  assert.is((await app.inject(post(body(262_144)))).statusCode, 201);
  assert.is((await app.inject(post(body(262_145)))).json().code, "too-large");
});

test("queries are validated as text: numbers are read, the unknown and the repeated are refused", async () => {
  const app = await testApp([read({ query: { limit: { type: "integer", minimum: 1, maximum: 100, default: 50 } } })]);
  const get = (query: string) => app.inject({ url: `/v1/things/1${query}`, headers: admin });
  assert.equal((await get("?limit=7")).json().query, { limit: 7 });
  assert.equal((await get("")).json().query, { limit: 50 });
  for (const query of ["?limit=0", "?limit=-1", "?limit=1e9", "?limit=x", "?limit=", "?limit=1&limit=2", "?limt=1"])
    assert.is((await get(query)).statusCode, 400, query);
  for (const number of ["0x10", "+5", "5e0", "5.0", " 5", "5 ", "0b1", "٥", "null", "true", "9".repeat(400)])
    assert.is((await get(`?limit=${encodeURIComponent(number)}`)).statusCode, 400, number);
});

const logUpTo = (head: Position | null): EventLog => ({ ...memoryEventLog(), head: async () => head });

test("a read without views takes a position as well and has nothing to wait for; other calls take none", async () => {
  const waitFor = async (): Promise<boolean> => {
    throw new Error("there is nothing to wait for");
  };
  const open = read({ path: "/v1/open", who: "anyone" });
  const app = await testApp([read(), echo(), open], {
    progress: { waitFor, lowest: () => null },
    log: logUpTo("0001"),
  });
  const after = `after=${POSITIONS.of("0001")}`;
  assert.is((await app.inject({ url: `/v1/things/1?${after}`, headers: admin })).statusCode, 201);
  assert.is((await app.inject({ url: "/v1/things/1?after=a%20b", headers: admin })).statusCode, 400);
  assert.is((await app.inject({ ...post({ name: "a" }), url: `/v1/things?${after}` })).statusCode, 400);
  assert.is((await app.inject({ url: `/v1/open?${after}` })).statusCode, 400);
});

test("a position after the end of the log is refused, and makes no view fold sooner", async () => {
  let waits = 0;
  const waitFor = async (): Promise<boolean> => {
    waits += 1;
    return false;
  };
  for (const head of ["0001", null]) {
    const app = await testApp([read({ reads: ["events.v3"] })], {
      progress: { waitFor, lowest: () => null },
      log: logUpTo(head),
    });
    const refused = await app.inject({ url: `/v1/things/1?after=${POSITIONS.of("0002")}`, headers: admin });
    const { code, retryable, detail, errors } = refused.json();
    assert.equal([refused.statusCode, code, retryable, errors[0].path], [400, "invalid-request", false, "/after"]);
    assert.match(detail, /^The log ends before the position in `after`.* Leave `after` out\.$/);
  }
  assert.is(waits, 0);
});

test("a read without views refuses a position after the end of the log as well", async () => {
  // The node learns of the second append while it waits.
  let head: Position = "0001";
  const app = await testApp([read()], { log: { ...memoryEventLog(), head: async () => head } });
  const get = (position: Position) =>
    app.inject({ url: `/v1/things/1?after=${POSITIONS.of(position)}`, headers: admin });
  const [second, third] = [get("0002"), get("0003")];
  await get("0001");
  head = "0002";
  assert.equal([(await second).statusCode, (await third).statusCode], [201, 400]);
});

test("every read refuses a position of an earlier log at once", async () => {
  const waitFor = async (): Promise<boolean> => {
    throw new Error("there is nothing to wait for");
  };
  const moved = positionText("the log before it was moved").of("0001");
  for (const over of [{}, { reads: ["events.v3"] }]) {
    const app = await testApp([read(over)], { progress: { waitFor, lowest: () => null } });
    const refused = await app.inject({ url: `/v1/things/1?after=${moved}`, headers: admin });
    const { code, retryable, detail, errors } = refused.json();
    assert.equal([refused.statusCode, code, retryable, errors[0].path], [400, "invalid-request", false, "/after"]);
    assert.is(detail, "The position in `after` is of another log: the log was moved since. Leave `after` out.");
  }
});

test("an answer stored before the log was moved is repeated without its position", async () => {
  const log = memoryEventLog();
  const ask = async (positions: PositionText) => {
    const app = await testApp([echo()], { log, positions });
    return app.inject(post({ name: "a" }, { "idempotency-key": "k-1" }));
  };
  const first = await ask(positionText("the log before it was moved"));
  assert.ok(first.headers["countersign-position"]);
  const again = await ask(POSITIONS);
  assert.equal([again.headers["idempotent-replayed"], again.body], ["true", first.body]);
  assert.is(again.headers["countersign-position"], undefined);
});

test("a read says where the views were before it began; a change and a visitor's read do not", async () => {
  let lowest: Position | null = "0007";
  const handle = async () => {
    lowest = "0009";
    return { status: 201, body: { ok: true } };
  };
  const routes = [read({ handle }), echo(), read({ path: "/v1/open", who: "anyone" })];
  const app = await testApp(routes, { progress: { waitFor: async () => true, lowest: () => lowest } });
  const positionOf = async (request: object) => (await app.inject(request)).headers["countersign-view-position"];
  assert.is(await positionOf({ url: "/v1/things/1", headers: admin }), POSITIONS.of("0007"));
  assert.is(await positionOf(post({ name: "a" })), undefined);
  assert.is(await positionOf({ url: "/v1/open" }), undefined);
  lowest = null;
  assert.is(await positionOf({ url: "/v1/things/1", headers: admin }), undefined, "a view was never folded");
});

test("a read waits for its views and answers view-behind when they lag", async () => {
  const asked: unknown[] = [];
  const waitFor = async (...args: unknown[]) => {
    asked.push(args);
    return args[1] === "0001";
  };
  const app = await testApp([read({ reads: ["events.v3"] })], {
    progress: { waitFor, lowest: () => null },
    log: logUpTo("0002"),
  });
  const get = (query: string) => app.inject({ url: `/v1/things/1${query}`, headers: admin });
  assert.is((await get("")).statusCode, 201);
  assert.is((await get(`?after=${POSITIONS.of("0001")}`)).statusCode, 201);
  const behind = await get(`?after=${POSITIONS.of("0002")}`);
  assert.is(behind.statusCode, 503);
  assert.is(behind.json().code, "view-behind");
  assert.is(behind.headers["retry-after"], "1");
  assert.equal(asked, [
    [["events.v3"], "0001", 2_000],
    [["events.v3"], "0002", 2_000],
  ]);
  for (const query of ["?after=", "?after=%00", `?after=${"1".repeat(65)}`, "?after=a%20b", "?after=0001"])
    assert.is((await get(query)).statusCode, 400, query);
});

test("every answer to a credential says how much is left, and the one too many is 429", async () => {
  const clock = testClock();
  const app = await testApp([echo(), read()], { clock, planOf: async () => ({ ...PLANS.free, apiRatePerMinute: 2 }) });
  const get = (headers: Record<string, string>) => app.inject({ url: "/v1/things/1", headers });
  const first = await get(admin);
  assert.is(first.headers["ratelimit-policy"], '"api";q=2;w=60');
  assert.is(first.headers.ratelimit, '"api";r=1;t=60');
  const refused = await app.inject(post("{"));
  assert.is(refused.statusCode, 400);
  assert.is(refused.headers.ratelimit, '"api";r=0;t=60');
  clock.advance(20_000);
  const third = await get(admin);
  assert.is(third.statusCode, 429);
  assert.is(third.json().code, "rate-limited");
  assert.is(third.headers["retry-after"], "40");
  assert.is(third.headers.ratelimit, '"api";r=0;t=40');
  assert.is((await get(bearer("csk_other"))).statusCode, 201);
  assert.is((await get(COOKIE)).statusCode, 201);
  clock.advance(40_000);
  assert.is((await get(admin)).statusCode, 201);
});

test("a problem of the route is written with its members, headers and trace", async () => {
  const trace = "4bf92f3577b34da6a3ce929d0e0e4736";
  const route = echo({
    handle: async () => problem("gate-rate", "Wait.", { extra: { event_id: "evt_1" }, retryAfterS: 7 }),
  });
  const app = await testApp([route]);
  const answer = await app.inject(post({ name: "a" }, { traceparent: `00-${trace}-00f067aa0ba902b7-01` }));
  assert.is(answer.headers["content-type"], "application/problem+json");
  assert.is(answer.headers["retry-after"], "7");
  assert.equal(answer.json(), {
    type: "/problems/gate-rate",
    title: "The policy's rate limit is reached",
    status: 429,
    detail: "Wait.",
    code: "gate-rate",
    retryable: true,
    trace_id: trace,
    event_id: "evt_1",
  });
});

test("an error is 500 without a word of it; a log that is away is 503", async () => {
  const broken = echo({
    handle: async () => {
      throw new Error("hunter2 in /srv/secret.ts");
    },
  });
  const away = echo({
    path: "/v1/away",
    handle: async () => {
      throw new LogUnavailable("disk full");
    },
  });
  const app = await testApp([broken, away]);
  const answer = await app.inject(post({ name: "a" }));
  assert.is(answer.statusCode, 500);
  assert.is(answer.json().code, "internal");
  assert.not.match(answer.body, /hunter2|secret|at /);
  const unavailable = await app.inject({ ...post({ name: "a" }), url: "/v1/away" });
  assert.is(unavailable.json().code, "unavailable");
  assert.ok(Number(unavailable.headers["retry-after"]) > 0);
});

test("under an Idempotency-Key the route runs once, quoted or bare, and a repeat says so", async () => {
  let ran = 0;
  const route = echo({ handle: async () => ({ status: 201, body: { ran: ++ran }, position: "0009" }) });
  const app = await testApp([route]);
  const first = await app.inject(post({ name: "a" }, { "idempotency-key": "k-1" }));
  const again = await app.inject(post('{ "name": "a" }', { "idempotency-key": '"k-1"' }));
  assert.equal(again.json(), { ran: 1 });
  assert.is(again.statusCode, first.statusCode);
  assert.is(first.headers["idempotent-replayed"], undefined);
  assert.is(again.headers["idempotent-replayed"], "true");
  assert.is(again.headers["countersign-position"], POSITIONS.of("0009"));
  const other = await app.inject(post({ name: "b" }, { "idempotency-key": "k-1" }));
  assert.is(other.statusCode, 422);
  assert.is(other.json().code, "idempotency-key-reused");
  const tenant = await app.inject(post({ name: "a" }, { "idempotency-key": "k-1", ...bearer("csk_other") }));
  assert.equal(tenant.json(), { ran: 2 });
  const bad = await app.inject(post({ name: "a" }, { "idempotency-key": "k".repeat(10_000) }));
  assert.is(bad.statusCode, 400);
});

test("a route that answers repeats itself is given the key, and does not go without one", async () => {
  let ran = 0;
  const route = echo({
    answersRepeats: true,
    handle: async ({ key }) => ({ status: 201, body: { key, ran: ++ran } }),
  });
  const app = await testApp([route]);
  const missing = await app.inject(post({ name: "a" }));
  assert.equal([missing.statusCode, missing.json().code], [400, "invalid-request"]);
  assert.match(missing.json().detail, "Idempotency-Key");
  const twice = await Promise.all([1, 2].map(() => app.inject(post({ name: "a" }, { "idempotency-key": '"k"' }))));
  assert.equal(
    twice.map((answer) => answer.json().key),
    ["k", "k"],
  );
  assert.is(ran, 2);
});

test("a waiting route's signal is aborted when its client disconnects and when the server closes", async () => {
  const left: string[] = [];
  const began: string[] = [];
  const waits = read({
    waits: true,
    handle: ({ params, closing }) =>
      new Promise((resolve) => {
        const name = params.id ?? "";
        began.push(name);
        closing.addEventListener("abort", () => {
          left.push(name);
          resolve({ status: 200, body: {} });
        });
      }),
  });
  const app = await testApp([waits]);
  const base = await app.listen({ port: 0, host: "127.0.0.1" });
  const gone = new AbortController();
  const aborted = fetch(`${base}/v1/things/gone`, { headers: admin, signal: gone.signal }).catch(() => "aborted");
  await until("it waits", () => began.length === 1);
  gone.abort();
  assert.is(await aborted, "aborted");
  await until("it is told", () => left.length === 1);
  const waiting = fetch(`${base}/v1/things/closing`, { headers: admin });
  await until("the other waits", () => began.length === 2);
  const closed = app.close();
  assert.is((await waiting).status, 200);
  assert.equal(left, ["gone", "closing"]);
  await closed;
});

test("a credential that was revoked, or made weaker, while the body was under way makes no call any more", async () => {
  const clock = testClock();
  let known: Principal | null = ADMIN_KEY;
  let asked = 0;
  let ran = 0;
  const callers: string[] = [];
  const APPROVER_KEY: Principal = { kind: "key", account: "acc_a", id: "key_admin", role: "approver" };
  const handle: Route["handle"] = async ({ principal }) => {
    callers.push(principal.kind === "agent" ? "agent" : principal.role);
    return { status: 201, body: { ran: ++ran } };
  };
  const route = echo({ who: { key: "approver", session: "approver" }, handle });
  const authenticate = async () => {
    asked += 1;
    return known;
  };
  const app = await testApp([route], { clock, authenticate });
  const base = await app.listen({ port: 0, host: "127.0.0.1" });
  /** Sends the body once `meanwhile` is done; the credential was looked at before. */
  const slowly = async (meanwhile: () => void) => {
    const before = asked;
    const call = request(`${base}/v1/things`, { method: "POST", headers: { ...JSON_TYPE, ...admin } });
    const answered = once(call, "response");
    call.write('{"name":');
    await until("the credential is looked at", () => asked > before);
    // What is behind that look asks nothing that is slower.
    await new Promise((resolve) => setImmediate(resolve));
    meanwhile();
    call.end('"a"}');
    const [answer] = (await answered) as [IncomingMessage];
    return { status: answer.statusCode, code: (JSON.parse(await text(answer)) as { code?: string }).code };
  };
  const later = (principal: typeof known) => () => {
    clock.advance(5_000);
    known = principal;
  };
  assert.is((await slowly(later(APPROVER_KEY))).status, 201);
  assert.equal(callers, ["approver"], "the call is made with the role of now");
  known = ADMIN_KEY;
  assert.equal(await slowly(later(VIEWER_KEY)), { status: 403, code: "forbidden" });
  known = ADMIN_KEY;
  assert.equal(await slowly(later(null)), { status: 401, code: "unauthenticated" });
  known = ADMIN_KEY;
  const before = asked;
  await app.inject(post({ name: "a" }));
  assert.is(asked, before + 1);
  assert.is(ran, 2);
  await app.close();
});

test("a key on a call that anyone may make, or on a read, counts for nothing", async () => {
  let ran = 0;
  const handle = async () => ({ status: 201, body: { ran: ++ran } });
  const app = await testApp([echo({ who: "anyone", handle }), read({ handle })]);
  const key = { "idempotency-key": "k" };
  await app.inject({ ...post({ name: "a" }), headers: { ...JSON_TYPE, ...key } });
  await app.inject({ ...post({ name: "a" }), headers: { ...JSON_TYPE, ...key } });
  await app.inject({ url: "/v1/things/1", headers: { ...admin, ...key } });
  await app.inject({ url: "/v1/things/1", headers: { ...admin, ...key } });
  assert.is(ran, 4);
});

test("bytes go out with their own type, an empty answer without any", async () => {
  const page = read({
    handle: async () => ({ status: 200, body: Buffer.from([1, 2]), headers: { "Content-Type": "image/x" } }),
  });
  const none = read({ path: "/v1/none", handle: async () => ({ status: 204 }) });
  const app = await testApp([page, none]);
  const bytes = await app.inject({ url: "/v1/things/1", headers: admin });
  assert.is(bytes.headers["content-type"], "image/x");
  assert.equal([...bytes.rawPayload], [1, 2]);
  const empty = await app.inject({ url: "/v1/none", headers: admin });
  assert.is(empty.statusCode, 204);
  assert.is(empty.headers["content-type"], undefined);
});

test("an answer with a problem that its route does not list is reported, and goes out all the same", async () => {
  const unlisted: string[] = [];
  const handle: Route["handle"] = async () => problem("already-delivered", "It was.");
  const app = await testApp([echo({ problems: ["conflict"], handle })], { onUnlisted: (it) => unlisted.push(it) });
  const call = (headers = {}) =>
    app.inject({
      method: "POST",
      url: "/v1/things",
      headers: { ...bearer("csk_admin"), ...headers },
      payload: { name: "a" },
    });
  for (const headers of [{}, { "idempotency-key": "k" }]) assert.is((await call(headers)).statusCode, 409);
  const sentence = "POST /v1/things answered already-delivered, which is not among its problems";
  assert.equal(unlisted, [sentence, sentence]);
  await app.close();
});

test.run();
