import type { FastifyInstance } from "fastify";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { EventLog, RecordedEvent } from "../../../domain/ports/event-log.ts";
import { randomness } from "../../../infra/crypto/randomness.ts";
import { LogUnavailable } from "../../../infra/log-errors.ts";
import { memoryEventLog } from "../../../infra/memory/event-log.ts";
import { callCounts } from "../../../src/calls/call-counts.ts";
import { Tallies } from "../../../src/calls/tallies.ts";
import { personalData } from "../../../src/erasure/personal-data.ts";
import { isUnsafe } from "../../../src/http/cross-site.ts";
import { type LapsedCredential, problemRecords } from "../../../src/http/problem-records.ts";
import { whyUnrecorded } from "../../../src/http/recorded-problems.ts";
import type { Route } from "../../../src/http/route.ts";
import { PROBLEMS, type ProblemCode, problem } from "../../../src/streams/problems.ts";
import { bearer, COOKIE, echo, testApp, testClock } from "../../support/http-app.ts";
import { startService } from "../../support/service-in-memory.ts";

const test = suite("refused calls");
const TARGET = `apr_${"a".repeat(32)}`;
const LAPSED: LapsedCredential = {
  account: "acc_a",
  actor: { kind: "key", id: "key_old" },
  why: "The API key was revoked.",
};

const answering = (code: ProblemCode, over: Partial<Route> = {}): Route =>
  echo({ path: "/v1/things/{id}", handle: async () => problem(code, `It is ${code}.`), ...over });

const routesOf = (count: number): readonly Route[] =>
  Array.from({ length: count }, (_, n) => answering("conflict", { path: `/v1/route${n}` }));

const world = async (routes: readonly Route[], over: Partial<EventLog> = {}) => {
  const log = memoryEventLog();
  const clock = testClock();
  const counted = new Tallies({ log: { ...log, ...over }, clock, randomness, onError: () => undefined });
  const told: string[] = [];
  const onProblem = problemRecords({
    calls: callCounts(counted, (code, whose) => told.push(`${code} ${whose}`)),
    lapsedOf: async ({ token }) => {
      if (token === "owner") return { ...LAPSED, actor: { kind: "member", id: "mem_a" } };
      return token === "csk_old" ? LAPSED : null;
    },
    onError: (error) => assert.unreachable(String(error)),
  });
  const app: FastifyInstance = await testApp(routes, { log, clock, onProblem });
  const records = async (): Promise<readonly RecordedEvent[]> => {
    await counted.flush(false);
    return log.readAll(null, 10_000, "records");
  };
  const post = (url: string, token: string, headers: Record<string, string> = {}) =>
    app.inject({ method: "POST", url, headers: { ...bearer(token), ...headers }, payload: { name: "a" } });
  return { app, log, clock, counted, told, records, post, personal: personalData(log, randomness) };
};

test("each problem of each route of the service is a record, or it stands there why not", async () => {
  const service = await startService();
  const description = await (await fetch(`${service.url}/openapi.json`)).json();
  await service.stop();
  const { paths, components } = description as {
    readonly paths: Record<string, Record<string, { responses: object }>>;
    readonly components: {
      readonly schemas: Record<string, { readonly examples?: readonly { code?: ProblemCode }[] }>;
    };
  };
  const listed = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).flatMap(([method, { responses }]) => {
      const text = JSON.stringify(responses);
      const names = [...text.matchAll(/"#\/components\/schemas\/([A-Za-z]+Problem)"/g)].map(([, name = ""]) => name);
      return names.map((name) => {
        const code = components.schemas[name]?.examples?.[0]?.code;
        if (code === undefined) throw new Error(`${name} has no example with a code`);
        return { method: method.toUpperCase(), path, code };
      });
    }),
  );
  assert.ok(listed.length > 500, `${listed.length} problems are listed`);
  const ofWebhooks = listed.filter(({ path }) => path === "/v1/webhooks/{provider}/{source_id}");
  assert.ok(ofWebhooks.some(({ code }) => code === "source-paused"));
  const unrecorded = new Set<string>();
  const codes = Object.keys(PROBLEMS) as ProblemCode[];
  // What becomes of a code depends on nothing else of the route than whether it only reads.
  const { app, clock, records, post } = await world(
    codes.flatMap((code) => {
      const path = `/v1/${code}/{id}`;
      const { body: _, ...read } = answering(code, { method: "GET", path });
      return [read, answering(code, { path })];
    }),
  );
  for (const code of codes) {
    for (const method of ["GET", "POST"] as const) {
      clock.advance(60_000);
      const url = `/v1/${code}/${TARGET}`;
      if (method === "GET") await app.inject({ url, headers: bearer("csk_admin") });
      else await post(url, "csk_admin");
      const reason = whyUnrecorded(method === "GET", code);
      const isThere = (await records()).some(({ data }) => data.route === `${method} /v1/${code}/{id}`);
      assert.is(isThere, reason === null, `${method} ${code}`);
      if (reason !== null) unrecorded.add(`${method === "GET"} ${code}`);
      assert.ok(reason === null || reason.length > 20, "a reason is a sentence");
    }
  }
  await app.close();
  const decisions = listed.filter(({ method, code }) => !unrecorded.has(`${!isUnsafe(method)} ${code}`));
  assert.ok(decisions.length > 200, `${decisions.length} are records`);
});

test("a record names the actor, the route, what it was about and, in a form that can be erased, the client", async () => {
  const { app, records, post, personal } = await world([answering("digest-mismatch")]);
  await post(`/v1/things/${TARGET}`, "csk_admin", {
    "user-agent": "curl/8",
    traceparent: `00-${"7".repeat(32)}-${"8".repeat(16)}-01`,
  });
  const [record] = await records();
  assert.ok(record);
  const { client, at: _, ...data } = record.data;
  assert.equal(data, {
    problem: "digest-mismatch",
    detail: "It is digest-mismatch.",
    route: "POST /v1/things/{id}",
    target: TARGET,
    minute: "2026-03-01T12:00:00.000Z",
    count: 1,
  });
  assert.is(record.stream, `calls-${TARGET}`);
  assert.equal(record.meta.actor, { kind: "key", id: "key_admin" });
  assert.is(record.meta.account, "acc_a");
  assert.is(record.meta.trace_id, "7".repeat(32));
  const value = await personal.read(client as never, "acc_a");
  assert.equal(value, { ip: "127.0.0.1", user_agent: "curl/8" });
  await app.close();
});

test("a weak role is a record about the caller, as the id in the path may be anybody's", async () => {
  const { app, records, post } = await world([answering("conflict")]);
  assert.is((await post(`/v1/things/${TARGET}`, "csk_viewer")).statusCode, 403);
  const [record] = await records();
  assert.equal([record?.stream, record?.data.problem, record?.data.target], ["calls-key_viewer", "forbidden", TARGET]);
  await app.close();
});

test("a call with a revoked key is a record of its account; an unknown key is counted for the installation", async () => {
  const { app, records, post, told } = await world([answering("conflict")]);
  assert.is((await post("/v1/things/a", "csk_old")).statusCode, 401);
  for (let n = 0; n < 3; n += 1) await post("/v1/things/a", `csk_unknown${n}`, { "user-agent": "secret" });
  await app.inject({ method: "POST", url: "/v1/things/a", payload: { name: "a" } });
  // One of them is written after its client.
  const found = [...(await records())].sort((a, b) => (a.stream < b.stream ? 1 : -1));
  assert.equal(
    found.map(({ stream, meta, data }) => [stream, meta.account, meta.actor.id, data.problem ?? data.counts]),
    [
      ["calls-key_old", "acc_a", "key_old", "unauthenticated"],
      ["calls-installation", "", "counts", { unauthenticated: 3 }],
    ],
  );
  assert.is(found[0]?.data.detail, LAPSED.why);
  assert.equal(told, [
    "unauthenticated account",
    "unauthenticated nobody",
    "unauthenticated nobody",
    "unauthenticated nobody",
  ]);
  await app.close();
});

test("a call that another site's page makes with a session is a record of its member; without one it is counted", async () => {
  const { app, records } = await world([
    answering("conflict"),
    answering("conflict", { path: "/v1/open", who: "anyone" }),
  ]);
  const headers = { origin: "https://evil.example", "sec-fetch-site": "none" };
  const foreign = (url: string, cookie: Record<string, string>) =>
    app.inject({ method: "POST", url, headers: { ...headers, ...cookie }, payload: { name: "a" } });
  assert.is((await foreign("/v1/things/a", COOKIE)).statusCode, 403);
  assert.is((await foreign("/v1/open", {})).statusCode, 403);
  const found = await records();
  assert.equal(
    found.map(({ stream, meta, data }) => [stream, meta.account, meta.actor.id, data.problem ?? data.counts]).sort(),
    [
      ["calls-installation", "", "counts", { "cross-site": 1 }],
      ["calls-mem_a", "acc_a", "public", "cross-site"],
    ],
  );
  const record = found.find(({ stream }) => stream === "calls-mem_a");
  assert.match(String(record?.data.detail), "Send this from the pages of");
  await app.close();
});

test("a refusal without a credential is a record of the account that it concerns, if there is one", async () => {
  const whose = { account: "acc_a", subject: "mem_a" };
  const wrong = problem("invalid-credentials", "Wrong.");
  const handle: Route["handle"] = async ({ body }) => ({
    ...wrong,
    about: async () => ((body as { name: string }).name === "known" ? whose : null),
  });
  const { app, records } = await world([echo({ who: "anyone", handle })]);
  const log = async (name: string) =>
    (await app.inject({ method: "POST", url: "/v1/things", payload: { name } })).json<Record<string, unknown>>();
  const [known, unknown] = [await log("known"), await log("unknown")];
  assert.equal({ ...known, trace_id: "" }, { ...unknown, trace_id: "" });
  const found = await records();
  assert.equal(found.map(({ stream, meta }) => [stream, meta.account]).sort(), [
    ["calls-installation", ""],
    ["calls-mem_a", "acc_a"],
  ]);
  await app.close();
});

test("a varied flood of one account makes a few records a minute, which count each call", async () => {
  const { app, clock, counted, records, post, log } = await world([
    answering("conflict"),
    answering("forbidden", { path: "/v1/others/{id}" }),
  ]);
  const [calls, minutes] = [200, 2];
  for (let minute = 0; minute < minutes; minute += 1) {
    for (let n = 0; n < calls / 2; n += 1) {
      await post(`/v1/things/${n}`, "csk_other");
      await post(`/v1/others/${n}`, "csk_other");
      if (n % 10 === 0) await counted.flush(false);
    }
    clock.advance(60_000);
  }
  await counted.flush(true);
  const found = await records();
  const sum = found.reduce((total, { data }) => total + Number(data.count), 0);
  assert.is(sum, calls * minutes);
  assert.ok(found.length <= minutes * 2 * 11, `${found.length} records`);
  assert.ok((await log.readAll(null, 10_000)).length - found.length <= minutes * 10, "one client of each kind");
  await app.close();
});

test("strangers who use up their kinds of records hide nothing that is refused to a member", async () => {
  const { app, records, post } = await world([answering("digest-mismatch"), ...routesOf(20)]);
  for (let n = 0; n < 20; n += 1) await post(`/v1/route${n}`, "csk_old");
  await post(`/v1/things/${TARGET}`, "csk_admin");
  const found = await records();
  assert.ok(found.some(({ data }) => data.problem === "digest-mismatch"));
  const more = found.find(({ type }) => type === "MoreCallsRefused");
  assert.equal(more?.data.counts, { unauthenticated: 16 });
  await app.close();
});

test("a revoked key that is used in many ways leaves room to tell from where a password is guessed", async () => {
  const about = async () => ({ account: "acc_a", subject: "mem_a" });
  const guess = echo({
    path: "/v1/guess",
    who: "anyone",
    handle: async () => problem("invalid-credentials", "Wrong.", { about }),
  });
  const { app, records, post, personal } = await world([answering("conflict"), guess]);
  for (let n = 0; n < 50; n += 1) await post(`/v1/things/${n}`, "csk_old");
  await app.inject({
    method: "POST",
    url: "/v1/guess",
    headers: { "user-agent": "guesser/1" },
    payload: { name: "a" },
  });
  const wrong = (await records()).find(({ data }) => data.problem === "invalid-credentials");
  const client = await personal.read(wrong?.data.client as never, "acc_a");
  assert.equal(client, { ip: "127.0.0.1", user_agent: "guesser/1" });
  await app.close();
});

test("a failing log changes no answer, and the refusals are recorded when it works again", async () => {
  let isAway = true;
  const away = async (...args: Parameters<EventLog["append"]>) => {
    if (isAway) throw new LogUnavailable("away");
    return base.append(...args);
  };
  const base = memoryEventLog();
  const { app, counted, post } = await world([answering("plan-limit")], { ...base, append: away });
  assert.is((await post("/v1/things/a", "csk_admin")).statusCode, 403);
  await counted.flush(false).catch(() => undefined);
  isAway = false;
  await counted.flush(false);
  assert.equal(
    (await base.readAll(null, 10, "records")).map(({ data }) => [data.problem, data.count]),
    [["plan-limit", 1]],
  );
  await app.close();
});

test.run();
