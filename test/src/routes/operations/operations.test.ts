import { suite } from "uvu";
import * as assert from "uvu/assert";
import { readConsoleBundle } from "../../../../src/routes/operations/console.ts";
import { type OperationsDeps, operationsRoutes } from "../../../../src/routes/operations/operations.ts";
import { PUBLIC_URL, testApp, testClock } from "../../../support/http-app.ts";

const RUNTIME = {
  engines: { log: "sqlite", views: "sqlite", feed: "none" },
  erasure: { bytes_removed: "with-the-next-scavenge" as const },
  roles: ["api", "projector"],
  projections: [{ view: "events.v3", position: "0001", lag_events: 2, lag_s: 0.5 }],
  feed: null,
};

const opened = (deps: Partial<OperationsDeps> = {}) => {
  const clock = testClock();
  const startedAt = clock.now() - 61_500;
  const routes = operationsRoutes({
    version: "1.2.3",
    commit: "abc",
    publicUrl: () => PUBLIC_URL,
    consoleBundle: readConsoleBundle("open"),
    authenticate: async () => null,
    startedAt,
    clock,
    checks: { log: async () => true, views: async () => true },
    runtime: async () => RUNTIME,
    ...deps,
  });
  return testApp(routes, { clock });
};

const test = suite("operations");

test("health is alive without a credential", async () => {
  const answer = await (await opened()).inject({ url: "/health" });
  assert.is(answer.statusCode, 200);
  assert.equal(answer.json(), { status: "ok" });
});

test("ready names each part; one that fails, throws or hangs makes it 503", async () => {
  const ready = await (await opened()).inject({ url: "/ready" });
  assert.is(ready.statusCode, 200);
  assert.equal(ready.json(), { status: "ok", checks: { log: "ok", views: "ok" }, informational: {} });
  const app = await opened({
    checks: {
      log: async () => true,
      views: async () => false,
      projector: async () => {
        throw new Error("hunter2");
      },
      deliverer: () => new Promise(() => undefined),
    },
  });
  const answer = await app.inject({ url: "/ready" });
  assert.is(answer.statusCode, 503);
  const checks = { log: "ok", views: "failing", projector: "failing", deliverer: "failing" };
  assert.equal(answer.json(), { status: "unavailable", checks, informational: {} });
});

test("a part that catches up by itself is shown, and makes nobody unready", async () => {
  const app = await opened({ informational: { reactions: async () => false, traces: async () => true } });
  const answer = await app.inject({ url: "/ready" });
  assert.is(answer.statusCode, 200);
  assert.equal(answer.json().informational, { reactions: "failing", traces: "ok" });
});

test("version and runtime say what runs, and nothing of tenants", async () => {
  const app = await opened();
  assert.equal((await app.inject({ url: "/version" })).json(), { version: "1.2.3", commit: "abc" });
  const runtime = (await app.inject({ url: "/runtime" })).json();
  const { memory, node, ...rest } = runtime;
  assert.is(node, process.version);
  assert.ok(memory.rss > 0 && memory.heap_used > 0);
  assert.equal(rest, { version: "1.2.3", started_at: "2026-03-01T11:58:58.500Z", uptime_s: 61, ...RUNTIME });
});

test("operations need no credential and ignore one, but are read only", async () => {
  const app = await opened();
  const headers = { authorization: "Bearer csk_nobody" };
  assert.is((await app.inject({ url: "/health", headers })).statusCode, 200);
  assert.is((await app.inject({ method: "POST", url: "/health" })).headers.allow, "GET, HEAD");
});

test.run();
