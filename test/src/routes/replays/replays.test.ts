import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { ViewStore } from "../../../../domain/ports/view-store.ts";
import { randomness } from "../../../../infra/crypto/randomness.ts";
import { personalData } from "../../../../src/erasure/personal-data.ts";
import { forbiddenFor } from "../../../../src/http/presented-credential.ts";
import type { Principal } from "../../../../src/http/route.ts";
import type { EventPlan } from "../../../../src/replays/event-plans.ts";
import { planReplay } from "../../../../src/replays/plan.ts";
import { replayRoutes } from "../../../../src/routes/replays/replays.ts";
import { caller } from "../../../support/call.ts";
import { NO_CALLS } from "../../../support/no-calls.ts";
import {
  ACCOUNT,
  ADMIN,
  BY,
  ENDPOINT_ID,
  type ReplayWorld,
  replayNode,
  replayWorld,
  SOURCE_ID,
} from "../../../support/replay-world.ts";
import { until } from "../../../support/until.ts";

const test = suite("replay routes");
const STRANGER: Principal = { kind: "key", account: "acc_b", id: "key_b", role: "admin" };
const KEY: Principal = { kind: "key", account: ACCOUNT, id: "key_1", role: "admin" };

const opened = async (world: ReplayWorld) => {
  const node = await replayNode(world);
  await node.shown();
  const post = (path: string, body: unknown, principal = ADMIN, params = {}) =>
    node.call("POST", path, { body, principal, params });
  return {
    node,
    plan: (filter: object, more: object = {}) => post("/v1/replays", { filter, dry_run: true, ...more }),
    start: (filter: object, more: object = {}, principal = ADMIN) =>
      post("/v1/replays", { filter, ...more }, principal),
    one: (id: string, body: unknown, principal = ADMIN) => post("/v1/events/{id}/replay", body, principal, { id }),
    cancel: (id: unknown, principal = ADMIN) =>
      post("/v1/replays/{id}/cancel", { reason: "enough" }, principal, { id }),
    get: (id: unknown, principal = ADMIN) =>
      node.call("GET", "/v1/replays/{id}", { principal, params: { id: String(id) } }),
    list: (principal = ADMIN) => node.call("GET", "/v1/replays", { principal }),
    planned: (ids: readonly string[], principal = ADMIN) =>
      node.call("GET", "/v1/replays/plan", { principal, query: { event_ids: ids.join(",") } }),
  };
};
const received = (number: number): string =>
  new Date(Date.parse("2026-03-01T12:00:00.000Z") + number * 1_000).toISOString();

const atStart = (endpoint_id: string) => ({ endpoint_id, account: ACCOUNT, at: received(0) });
const opens = (world: ReplayWorld, id: string) =>
  world.add(`endpoint-${id}`, "EndpointOpened", {
    ...{ ...atStart(id), reason: "failures", failures: 10, failing_since: received(0) },
    next_probe_at: received(9_000),
  });

test("a dry run is exact, by every filter, and writes nothing", async () => {
  const world = await replayWorld();
  for (const number of [1, 2, 3, 4]) await world.failed(number);
  const other = `end_${"b".repeat(32)}`;
  await world.endpoint(other);
  await world.failed(5, { endpoint_id: other });
  await world.failed(6, { bundle: { id: "bun_1", index: 0, undo: false } });
  const erased = await world.failed(7);
  await world.append(erased, [
    { type: "PayloadErased", data: { event_id: erased, reason: "asked", up_to: 0, at: received(9) } },
  ]);
  await world.admitted(8);
  await world.blocked(9, { endpoint_id: null });
  const { node, plan } = await opened(world);
  const before = await world.log.head();
  assert.equal((await plan({ status: "failed" }, { rate_per_second: 2 })).body, {
    count: 5,
    ...{ waiting: 0, waiting_at: [] },
    skipped: [
      { reason: "bundle-step", count: 1 },
      { reason: "payload-erased", count: 1 },
    ],
    oldest: received(1),
    newest: received(5),
    endpoints: [
      { id: ENDPOINT_ID, count: 4 },
      { id: other, count: 1 },
    ],
    estimated_s: 3,
  });
  const counted = async (filter: object) => (await plan({ status: "failed", ...filter })).body.count;
  assert.is(await counted({ endpoint_id: other }), 1);
  assert.is(await counted({ source_id: SOURCE_ID }), 5);
  assert.is(await counted({ source_id: `src_${"b".repeat(32)}` }), 0);
  assert.is(await counted({ from: received(2), to: received(4) }), 2);
  assert.is(await counted({ from: "2026-03-01T13:00:02+01:00" }), 4);
  assert.equal((await plan({ status: "blocked" })).body, {
    count: 1,
    ...{ waiting: 0, waiting_at: [], skipped: [] },
    oldest: received(9),
    newest: received(9),
    endpoints: [{ id: null, count: 1 }],
    estimated_s: 1,
  });
  assert.equal((await plan({ status: "failed", from: received(90) })).body, {
    count: 0,
    ...{ waiting: 0, waiting_at: [], skipped: [] },
    oldest: null,
    newest: null,
    endpoints: [],
    estimated_s: 0,
  });
  assert.is((await plan({ status: "failed", from: "yesterday" })).outcome, "invalid-request");
  assert.is(await world.log.head(), before);
  await node.stop();
});

test("the plan of single events says of each what its replay would do, and nothing of another account's", async () => {
  const world = await replayWorld();
  const [open, disabled] = [`end_${"b".repeat(32)}`, `end_${"c".repeat(32)}`] as const;
  for (const id of [open, disabled]) await world.endpoint(id);
  await opens(world, open);
  await world.add(`endpoint-${disabled}`, "EndpointDisabled", { ...atStart(disabled), reason: "by hand" });
  const ids = [
    await world.failed(1),
    await world.failed(2, { endpoint_id: open }),
    await world.failed(3, { endpoint_id: disabled }),
    await world.blocked(4),
    await world.admitted(5),
    await world.failed(6, { bundle: { id: "bun_1", index: 0, undo: false } }),
  ];
  const ended = await world.admitted(7);
  await world.append(ended, [
    {
      type: "EventCancelled",
      data: { event_id: ended, endpoint_id: ENDPOINT_ID, attempts: 0, reason: "asked", at: received(8) },
    },
  ]);
  const { node, planned, one } = await opened(world);
  const unknown = `evt_${"z".repeat(32)}`;
  const data = (await planned([...ids, ended, unknown])).body.data as readonly EventPlan[];
  assert.equal(
    data.map(({ event_id: id, ...rest }) => [[...ids, ended].indexOf(id) + 1, rest]),
    [
      [1, { status: "failed", skipped: null, waiting: null }],
      [2, { status: "failed", skipped: null, waiting: { endpoint_id: open, reason: "circuit-open" } }],
      [3, { status: "failed", skipped: "endpoint-disabled", waiting: null }],
      [4, { status: "blocked", skipped: null, waiting: null }],
      [5, { status: "queued", skipped: "changed", waiting: null }],
      [6, { status: "failed", skipped: "bundle-step", waiting: null }],
      [7, { status: "cancelled", skipped: "changed", waiting: null }],
    ],
  );
  assert.equal((await planned(ids, STRANGER)).body, { data: [] });
  for (const { event_id: id, skipped } of data) {
    const { outcome } = await one(id, {});
    assert.is(outcome === 202, skipped === null, `${id}: ${outcome}, planned as ${skipped}`);
  }
  await node.stop();
});

test("an endpoint's own rate counts for the time that it takes", async () => {
  const world = await replayWorld();
  for (const number of [1, 2, 3, 4]) await world.failed(number);
  const about = { endpoint_id: ENDPOINT_ID, at: received(0) };
  await world.add(`endpoint-${ENDPOINT_ID}`, "EndpointChanged", { ...about, changes: { rate_per_second: 0.5 } });
  const { node, plan } = await opened(world);
  assert.is((await plan({ status: "failed" }, { rate_per_second: 100 })).body.estimated_s, 8);
  await node.stop();
});

test("started it is shown with its progress to its account alone, and a repeat of the command is the same replay", async () => {
  const world = await replayWorld();
  for (const number of [1, 2, 3]) await world.failed(number);
  const { node, start, get, list, cancel } = await opened(world);
  node.bulkReplayer.start();
  const { outcome, body, headers } = await start({ status: "failed" }, { rate_per_second: 500, reason: "mended" }, KEY);
  assert.equal([outcome, body.status, body.total], [202, "running", 3]);
  assert.is(headers.location, `/v1/replays/${body.id}`);
  const shown = async () => {
    await node.shown();
    return (await get(body.id)).body;
  };
  await until("it is done", async () => (await shown()).status === "done");
  const { started_at: _, ended_at: _ended, ...rest } = await shown();
  assert.equal(rest, {
    ...{ id: body.id, status: "done", filter: { status: "failed" }, total: 3, done: 3, delivered: 0, failed: 0 },
    ...{
      skipped: 0,
      skipped_by: [],
      waiting: 0,
      waiting_at: [],
      rate_per_second: 500,
      by: { kind: "key", id: "key_1" },
      reason: "mended",
      cancelled: null,
    },
  });
  assert.is(((await list()).body.data as unknown[]).length, 1);
  assert.is((await get(body.id, STRANGER)).outcome, "not-found");
  assert.equal((await list(STRANGER)).body.data, []);
  assert.is((await cancel(body.id, STRANGER)).outcome, "not-found");
  assert.is((await cancel(body.id)).outcome, "conflict");
  assert.is((await cancel("rpl_no")).outcome, "not-found");
  await node.stop();
});

test("a plan equals what is then done: what is sent, what waits and where, and what is skipped for which reason", async () => {
  const world = await replayWorld();
  const [open, disabled, deleted] = ["b", "c", "d"].map((letter) => `end_${letter.repeat(32)}`) as [
    string,
    string,
    string,
  ];
  for (const id of [open, disabled, deleted]) await world.endpoint(id);
  await opens(world, open);
  await world.add(`endpoint-${disabled}`, "EndpointDisabled", { ...atStart(disabled), reason: "by hand" });
  await world.add(`endpoint-${deleted}`, "EndpointDeleted", atStart(deleted));
  for (const number of [1, 2]) await world.failed(number);
  for (const number of [3, 4, 5]) await world.failed(number, { endpoint_id: open });
  for (const number of [6, 7]) await world.failed(number, { endpoint_id: disabled });
  await world.failed(8, { endpoint_id: deleted });
  for (const index of [0, 1, 2]) await world.failed(10 + index, { bundle: { id: "bun_1", index, undo: false } });
  const erased = await world.failed(20);
  await world.append(erased, [
    { type: "PayloadErased", data: { event_id: erased, reason: "asked", up_to: 0, at: received(21) } },
  ]);
  const { node, plan, start, get } = await opened(world);
  const waits = { waiting: 3, waiting_at: [{ endpoint_id: open, reason: "circuit-open", count: 3 }] };
  const skips = [
    { reason: "bundle-step", count: 3 },
    { reason: "payload-erased", count: 1 },
    { reason: "endpoint-deleted", count: 1 },
    { reason: "endpoint-disabled", count: 2 },
  ];
  const planned = (await plan({ status: "failed" })).body;
  assert.equal([planned.count, planned.waiting, planned.waiting_at], [5, waits.waiting, waits.waiting_at]);
  assert.equal(planned.skipped, skips);
  node.bulkReplayer.start();
  const { body } = await start({ status: "failed" }, { rate_per_second: 500 });
  assert.equal([body.total, body.waiting, body.skipped], [12, 3, skips]);
  const shown = async () => {
    await node.shown();
    return (await get(body.id)).body;
  };
  await until("it is done", async () => (await shown()).status === "done");
  const { total, done, skipped, skipped_by, waiting, waiting_at } = await shown();
  assert.equal([total, done, skipped, skipped_by], [12, 12, 7, skips]);
  assert.equal({ waiting, waiting_at }, waits);
  const enabled = { ...atStart(open), by: BY };
  await world.add(`endpoint-${open}`, "EndpointEnabled", enabled);
  await until("nothing waits once the circuit is closed", async () => (await shown()).waiting === 0);
  await node.stop();
});

test("blocked events wait at the endpoint that their sender has now, and are skipped while the sender is paused", async () => {
  const world = await replayWorld();
  for (const number of [1, 2]) await world.blocked(number, { endpoint_id: null });
  await world.add(`endpoint-${ENDPOINT_ID}`, "EndpointDisabled", {
    ...{ endpoint_id: ENDPOINT_ID, account: ACCOUNT, reason: "by hand", at: received(0) },
  });
  const { node, plan } = await opened(world);
  const disabled = (await plan({ status: "blocked" })).body;
  const waiting_at = [{ endpoint_id: ENDPOINT_ID, reason: "endpoint-disabled", count: 2 }];
  assert.equal([disabled.count, disabled.waiting, disabled.waiting_at, disabled.skipped], [2, 2, waiting_at, []]);
  await world.add(`source-${SOURCE_ID}`, "SourceChanged", {
    ...{ source_id: SOURCE_ID, changes: { status: "paused" }, at: received(0) },
  });
  await until("the paused source is seen", async () => (await plan({ status: "blocked" })).body.count === 0);
  assert.equal((await plan({ status: "blocked" })).body.skipped, [{ reason: "source-paused", count: 2 }]);
  await node.stop();
});

test("cancelled it says by whom and why", async () => {
  const world = await replayWorld();
  await world.failed(1);
  const { node, start, get, cancel } = await opened(world);
  const { body } = await start({ status: "failed" });
  assert.equal([(await cancel(body.id)).outcome, (await cancel(body.id)).body.status], [200, "cancelled"]);
  await node.shown();
  const shown = (await get(body.id)).body;
  assert.equal([shown.status, shown.cancelled, shown.done], ["cancelled", { by: BY, reason: "enough" }, 0]);
  await node.stop();
});

test("one event is replayed by its id, with a reason or without", async () => {
  const world = await replayWorld({ require_fields: ["missing"] });
  const [first, second, blocked] = [await world.failed(1), await world.failed(2), await world.blocked(3)];
  const { node, one } = await opened(world);
  const { outcome, body } = await one(first, { reason: "mended" });
  assert.equal([outcome, body.event_id, body.status], [202, first, "retrying"]);
  assert.match(String(body.replay_id), /^rpl_[a-z2-7]{32}$/);
  assert.is((await one(first, {})).outcome, "in-progress");
  assert.is((await one(second, undefined)).outcome, 202);
  assert.is((await one(blocked, {})).outcome, "gate-require-fields");
  assert.is((await one(second, {}, STRANGER)).outcome, "not-found");
  assert.is((await one("evt_no", {})).outcome, "not-found");
  const reasons = (await world.ofType("EventReplayed")).map(({ data }) => data.reason);
  const personal = personalData(world.log, randomness);
  assert.equal(await personal.shown(reasons, ACCOUNT), ["mended", null]);
  await node.stop();
});

test("the reason of a call that is refused is not kept", async () => {
  const world = await replayWorld({ require_fields: ["missing"] });
  const [first, blocked] = [await world.failed(1), await world.blocked(2)];
  const { node, one, start, cancel } = await opened(world);
  const kept = async (): Promise<readonly unknown[]> =>
    (await world.log.readAll(null, 1_000)).flatMap(({ type, data }) => (type === "PersonalDataKept" ? data.value : []));
  assert.is((await one(first, { reason: "of a stranger" }, STRANGER)).outcome, "not-found");
  assert.is((await one(first, { reason: "mended" })).outcome, 202);
  assert.is((await one(first, { reason: "too early" })).outcome, "in-progress");
  // The record of what was blocked again names this reason.
  assert.is((await one(blocked, { reason: "tried again" })).outcome, "gate-require-fields");
  const { body } = await start({ status: "failed" }, { reason: "all" });
  assert.is((await cancel(body.id, STRANGER)).outcome, "not-found");
  assert.is((await cancel(`rpl_${"a".repeat(32)}`)).outcome, "not-found");
  assert.equal(await kept(), ["mended", "tried again", "all"]);
  assert.is((await cancel(body.id)).outcome, 200);
  await node.stop();
});

test("who may not change anything replays nothing", async () => {
  const world = await replayWorld();
  const { node } = await opened(world);
  for (const { method, who, path } of node.routes) {
    if (who === "anyone") throw new Error(path);
    const refuses = (principal: Principal) => forbiddenFor(principal, who) !== null;
    const viewer = { ...ADMIN, role: "viewer" } as Principal;
    assert.is(refuses(viewer), method === "POST", path);
    assert.is(refuses({ kind: "agent", account: ACCOUNT, id: "agt_1" }), true, path);
    assert.is(refuses(KEY), false, path);
  }
  await node.stop();
});

test("an account runs so many at once, and a repeat of one of them is none", async () => {
  const world = await replayWorld();
  await world.failed(1);
  const { node, start, cancel } = await opened(world);
  const begun: string[] = [];
  for (let n = 0; n < 20; n += 1) {
    const { outcome, body } = await start({ status: "failed" });
    assert.is(outcome, 202, `${n}`);
    begun.push(String(body.id));
  }
  const refused = await start({ status: "failed" });
  assert.is(refused.outcome, "conflict");
  assert.is((await start({ status: "failed" }, { dry_run: true })).outcome, 200);
  assert.is((await start({ status: "failed" }, {}, STRANGER)).outcome, 202);
  await cancel(begun[0]);
  assert.is((await start({ status: "failed" })).outcome, 202);
  await node.stop();
});

test("a filter that has to pass over too much is refused with what to do", async () => {
  const world = await replayWorld();
  for (const number of [1, 2, 3]) await world.failed(number);
  const { node } = await opened(world);
  const upTo = await node.views.position("events.v3");
  // What has failed behind the snapshot is passed over, and walked through all the same.
  const deps = { ...node, aggregates: node.streams };
  const early = { ...deps, views: { ...node.views, position: async () => "0" }, log: { head: async () => "0" } };
  const plan = async (most: number, given: Parameters<typeof planReplay>[0] = early) => {
    const planned = await planReplay(given, ACCOUNT, { status: "failed" }, most);
    return typeof planned === "string" ? planned : [planned.count, planned.upTo];
  };
  assert.equal(await plan(3), [0, "0"]);
  assert.is(await plan(2), "too-many");
  assert.equal(await plan(3, deps), [3, upTo]);
  await node.stop();
});

test("while the view does not list everything, a dry run and a replay are answered 503, and nothing is started", async () => {
  const world = await replayWorld();
  for (const number of [1, 2, 3]) await world.failed(number);
  const { node } = await opened(world);
  const head = await world.log.head("records");
  const body = { filter: { status: "failed" } };
  const answers = async (over: object): Promise<readonly unknown[]> => {
    const routes = replayRoutes({
      ...node,
      aggregates: node.streams,
      calls: NO_CALLS,
      personal: personalData(world.log, randomness),
      ...over,
    });
    const asked = [{ ...body, dry_run: true }, body].map((it) =>
      caller(routes)("POST", "/v1/replays", { body: it, principal: ADMIN }),
    );
    return (await Promise.all(asked)).map(({ outcome, retryAfterS }) => [outcome, retryAfterS]);
  };
  const refused = [
    ["view-behind", 1],
    ["view-behind", 1],
  ];
  // Behind for as long as the route waits; dropped after it waited; dropped during the walk.
  assert.equal(await answers({ progress: { waitFor: async () => false } }), refused);
  assert.equal(await answers({ views: { ...node.views, position: async () => null } }), refused);
  let isWalking = false;
  const dropped: ViewStore = {
    ...node.views,
    position: async () => (isWalking ? null : head),
    async page() {
      isWalking = true;
      return [];
    },
  };
  assert.equal((await answers({ views: dropped }))[0], refused[0]);
  assert.is(await world.log.head("records"), head);
  await node.stop();
});

test("a payload at the end of the log, which no view is about, is not waited for", async () => {
  const world = await replayWorld();
  await world.failed(1);
  await world.add("payload-last", "Kept", {});
  const { plan, node } = await opened(world);
  assert.is((await plan({ status: "failed" })).body.count, 1);
  await node.stop();
});

test.run();
