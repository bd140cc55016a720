import type { AddressInfo } from "node:net";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { memoryEventLog } from "../../../../infra/memory/event-log.ts";
import { memoryViewStore } from "../../../../infra/memory/view-store.ts";
import { PROJECTIONS } from "../../../../projections/all.ts";
import { FRAMES_PER_SECOND } from "../../../../src/feed/change-follower.ts";
import { MISSED_MAX } from "../../../../src/feed/change-reader.ts";
import { TOPICS, VIEW_OF } from "../../../../src/feed/topics.ts";
import type { Principal } from "../../../../src/http/route.ts";
import { type StreamDeps, streamRoutes } from "../../../../src/routes/stream/stream.ts";
import { inlineProjector } from "../../../../src/views/view-progress.ts";
import { eventSource, type TestEventSource } from "../../../support/event-source.ts";
import { approvalFacts, deliveryFacts, type Fact, history } from "../../../support/history.ts";
import {
  ADMIN_KEY,
  bearer,
  COOKIE,
  OTHER_KEY,
  OWNER,
  POSITIONS,
  testApp,
  VIEWER_KEY,
} from "../../../support/http-app.ts";
import { until } from "../../../support/until.ts";

const test = suite("GET /v1/stream");
const KEY = bearer("csk_viewer");
const VIEWS = new Set(Object.values(VIEW_OF));
const SHOWN = PROJECTIONS.filter(({ schema }) => VIEWS.has(schema.name));

type Frame = {
  readonly topic: string;
  readonly id?: string;
  readonly status?: string | null;
  readonly position?: string;
  readonly changed?: number | null;
};

const framesOf = (source: TestEventSource): readonly Frame[] => source.events.map(({ data }) => JSON.parse(data));

/** Two nodes over one log and one view store, of which the first keeps the views. */
const world = async (limits: StreamDeps["limits"] = {}) => {
  const log = memoryEventLog();
  const views = memoryViewStore(SHOWN.map(({ schema }) => schema));
  const errors: unknown[] = [];
  const onError = (error: unknown) => errors.push(error);
  const project = () =>
    inlineProjector({ log, views, projections: SHOWN, clock: { now: () => Date.now() }, gatherMs: 1, onError });
  let projector = await project();
  const principals = new Map<string, Principal>([
    ["csk_admin", ADMIN_KEY],
    ["csk_viewer", VIEWER_KEY],
    ["csk_other", OTHER_KEY],
    ["owner", OWNER],
  ]);
  const nodes = await Promise.all(
    [projector.onProgress, () => () => undefined].map(async (onProgress) => {
      const deps = { views, log, progress: { onProgress }, positions: POSITIONS, onError, limits };
      const app = await testApp(streamRoutes({ ...deps, aggregates: { watch: () => () => undefined } }), {
        authenticate: async ({ token }) => principals.get(token) ?? null,
        log,
      });
      await app.listen({ host: "127.0.0.1", port: 0 });
      return app;
    }),
  );
  const sources: TestEventSource[] = [];
  let added = 0;
  return {
    log,
    views,
    principals,
    errors,
    nodes,
    async add(
      stream: string,
      fact: Fact | ReturnType<ReturnType<typeof deliveryFacts>["admitted"]>,
      account = "acc_a",
    ) {
      added += 1;
      const record = history().add(stream, fact as Fact, { account });
      const id = `${String(added).padStart(8, "0")}-0000-8000-a000-000000000000`;
      await log.append(stream, "any", [{ ...record, id }]);
    },
    /** Opens a stream and waits until it has begun. */
    async open(query = "", headers: Record<string, string> = KEY, node = 0) {
      const address = nodes[node]?.server.address() as AddressInfo | undefined;
      const port = address?.port;
      const source = await eventSource(`http://127.0.0.1:${port}/v1/stream${query}`, headers);
      sources.push(source);
      if (source.status === 200) await until("it has begun", () => source.text() !== "");
      return source;
    },
    stopProjector: () => projector.stop(),
    async startProjector() {
      projector = await project();
    },
    async close() {
      for (const source of sources) source.close();
      for (const node of nodes) await node.close();
      await projector.stop();
    },
  };
};
type World = Awaited<ReturnType<typeof world>>;

const withWorld = async (run: (it: World) => Promise<void>, ...args: Parameters<typeof world>): Promise<void> => {
  const it = await world(...args);
  try {
    await run(it);
    assert.equal(it.errors, []);
  } finally {
    await it.close();
  }
};

const arrived = (source: TestEventSource, count: number) =>
  until(`${count} frames have come`, () => source.events.length >= count);

const admitted = (it: World, id: string, account?: string) =>
  it.add(`delivery-${id}`, deliveryFacts(id).admitted(), account);

for (const node of [0, 1])
  test(`a change is told once the views have it, with its status and nothing of its contents, on node ${node}`, () =>
    withWorld(async (it) => {
      const source = await it.open("", KEY, node);
      assert.match(source.headers["content-type"] ?? "", /^text\/event-stream/);
      await it.stopProjector();
      await admitted(it, "evt_1");
      await it.startProjector();
      await arrived(source, 1);
      const [frame] = framesOf(source);
      assert.equal(Object.keys(frame ?? {}).sort(), ["id", "position", "status", "topic"]);
      assert.equal([frame?.topic, frame?.id, frame?.status], ["events", "evt_1", "queued"]);
      assert.is(POSITIONS.read(frame?.position ?? ""), await it.log.head());
      assert.not.match(source.text(), "payment_intent");
    }));

test("only the topics asked for are told, and the end of a hold also as a change of its approval", () =>
  withWorld(async (it) => {
    const source = await it.open("?topics=approvals");
    await it.add("approval-apr_1", approvalFacts("apr_1", { account: "acc_a" }).requested() as Fact);
    await it.add("delivery-evt_1", deliveryFacts("evt_1").held());
    await it.add("delivery-evt_1", deliveryFacts("evt_1").holdEnded(5, "rejected"));
    await until("the rejection is told", () => framesOf(source).some(({ status }) => status === "rejected"));
    assert.ok(framesOf(source).every(({ topic, id }) => topic === "approvals" && id === "apr_1"));
  }));

test("a change of the account itself is told, and only to the account", () =>
  withWorld(async (it) => {
    const source = await it.open("?topics=account");
    for (const account of ["acc_b", "acc_a"]) {
      const data = { account, changes: { time_zone: "Asia/Tokyo" }, at: "2026-01-02T03:04:05.678Z" };
      await it.add(`account-${account}`, { type: "AccountChanged", data }, account);
    }
    await arrived(source, 1);
    const [frame] = framesOf(source);
    assert.equal([frame?.topic, frame?.id, frame?.status], ["account", "acc_a", null]);
  }));

test("more changes than a second has frames are one frame with their number", () =>
  withWorld(async (it) => {
    const source = await it.open("?topics=events");
    await it.stopProjector();
    const all = Array.from({ length: 3 * FRAMES_PER_SECOND }, (_, n) => `evt_${n}`);
    for (const id of all) await admitted(it, id);
    await it.startProjector();
    const told = () => framesOf(source).reduce((sum, { changed }) => sum + (changed ?? 1), 0);
    await until("all are told", () => told() >= all.length);
    assert.is(told(), all.length);
    assert.ok(framesOf(source).some(({ changed }) => (changed ?? 0) > FRAMES_PER_SECOND));
    assert.ok(source.events.length <= FRAMES_PER_SECOND + 1);
  }));

test("a stream that resumes misses nothing, on whichever node", () =>
  withWorld(async (it) => {
    const first = await it.open();
    await admitted(it, "evt_1");
    await arrived(first, 1);
    const { log } = it;
    const head = POSITIONS.of((await log.head()) ?? "");
    await until("the client may resume after it", () => first.lastId() === head);
    first.close();
    await admitted(it, "evt_2");
    const second = await it.open("", { ...KEY, "last-event-id": first.lastId() }, 1);
    await arrived(second, 1);
    await admitted(it, "evt_3");
    await arrived(second, 2);
    assert.equal(
      framesOf(second).map(({ id }) => id),
      ["evt_2", "evt_3"],
    );
  }));

test("a stream that begins after a position tells what came since; what the client heard last goes before it", () =>
  withWorld(async (it) => {
    const head = async (): Promise<string> => POSITIONS.of((await it.log.head()) ?? "");
    await admitted(it, "evt_1");
    const read = await head();
    await admitted(it, "evt_2");
    const heard = await head();
    await admitted(it, "evt_3");
    for (const [headers, expected] of [
      [KEY, ["evt_2", "evt_3"]],
      [{ ...KEY, "last-event-id": "" }, ["evt_2", "evt_3"]],
      [{ ...KEY, "last-event-id": heard }, ["evt_3"]],
    ] as const) {
      const source = await it.open(`?after=${read}`, headers);
      await arrived(source, expected.length);
      assert.equal(
        framesOf(source).map(({ id }) => id),
        expected,
      );
    }
  }));

test("after too long a gap each topic is told to have changed, and what comes then is told as ever", () =>
  withWorld(async (it) => {
    await admitted(it, "evt_1");
    const from = POSITIONS.of((await it.log.head()) ?? "");
    const record = history().add("x-x", { type: "Happened", data: {} }, { account: "acc_a" });
    const many = Array.from({ length: MISSED_MAX + 1 }, (_, n) => ({
      ...record,
      id: `${String(n).padStart(8, "0")}-0000-8000-b000-000000000000`,
    }));
    for (let at = 0; at < many.length; at += 500) await it.log.append("x-x", "any", many.slice(at, at + 500));
    const source = await it.open("", { ...KEY, "last-event-id": from });
    await arrived(source, TOPICS.length);
    assert.equal(
      framesOf(source),
      TOPICS.map((topic) => ({ topic, changed: null })),
    );
    await admitted(it, "evt_2");
    await arrived(source, TOPICS.length + 1);
  }));

test("nothing of another account is told, also to one that resumes", () =>
  withWorld(async (it) => {
    const other = bearer("csk_other");
    await admitted(it, "evt_1");
    const from = POSITIONS.of((await it.log.head()) ?? "");
    const source = await it.open("", other);
    await admitted(it, "evt_2");
    const resumed = await it.open("", { ...other, "last-event-id": from });
    // The other account's own event comes last, so what was before it would have been told by then.
    await admitted(it, "evt_3", "acc_b");
    for (const stream of [source, resumed]) {
      await arrived(stream, 1);
      assert.equal(
        framesOf(stream).map(({ id }) => id),
        ["evt_3"],
      );
    }
  }));

test("a foreign id, an unknown topic and a caller without the role are refused", () =>
  withWorld(async (it) => {
    const status = async (query: string, headers: Record<string, string>) => (await it.open(query, headers)).status;
    assert.is(await status("", { ...KEY, "last-event-id": "zzzz-0000000000000001" }), 400);
    assert.is(await status("", { ...KEY, "last-event-id": "12-abcdefgh" }), 400);
    assert.is(await status("?topics=secrets", KEY), 400);
    assert.is(await status("", bearer("csk_unknown")), 401);
  }));

test("a member or key has five streams, an account fifty, and a closed one makes room", () =>
  withWorld(async (it) => {
    const five = await Promise.all([1, 2, 3, 4, 5].map(() => it.open()));
    assert.ok(five.every(({ status }) => status === 200));
    const sixth = await it.open();
    assert.is(sixth.status, 429);
    assert.ok(Number(sixth.headers["retry-after"]) > 0);
    assert.is((await it.open("", COOKIE)).status, 200);
    five[0]?.close();
    await until("there is room", async () => (await it.open()).status === 200);
  }));

test("an account's streams are limited over all of its callers", () =>
  withWorld(
    async (it) => {
      await it.open();
      await it.open("", bearer("csk_admin"));
      assert.is((await it.open("", COOKIE)).status, 429);
      assert.is((await it.open("", bearer("csk_other"))).status, 200);
    },
    { accountMax: 2 },
  ));

test("a stream ends when its credential is revoked", () =>
  withWorld(
    async (it) => {
      const source = await it.open();
      it.principals.delete("csk_viewer");
      await until("it has ended", () => source.isEnded());
      await admitted(it, "evt_1");
      assert.equal(source.events, []);
    },
    { recheckMs: 5 },
  ));

test("a silent stream sends heartbeats, and the server's end ends it", () =>
  withWorld(
    async (it) => {
      const source = await it.open();
      await until("a heartbeat has come", () => source.comments() > 0);
      await it.nodes[0]?.close();
      await until("it has ended", () => source.isEnded());
    },
    { heartbeatMs: 20 },
  ));

test.run();
