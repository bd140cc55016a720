import { get } from "node:http";
import type { AddressInfo } from "node:net";
import { CloudEvent as Validated } from "cloudevents";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { EventLog } from "../../../../domain/ports/event-log.ts";
import type { CloudEvent } from "../../../../domain/ports/feed.ts";
import { memoryEventLog } from "../../../../infra/memory/event-log.ts";
import { memoryViewStore } from "../../../../infra/memory/view-store.ts";
import { audit } from "../../../../projections/audit.ts";
import type { Principal } from "../../../../src/http/route.ts";
import { type AuditStreamLimits, auditStreamRoutes } from "../../../../src/routes/audit/audit-stream.ts";
import { inlineProjector } from "../../../../src/views/view-progress.ts";
import { eventSource, type TestEventSource } from "../../../support/event-source.ts";
import { appendTo, history } from "../../../support/history.ts";
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

const test = suite("GET /v1/audit/stream");
const KEY = bearer("csk_admin");

/** The route behind a listening app, over a log whose audit view is kept up to date. */
const world = async (limits: Partial<AuditStreamLimits> = {}, closeGraceMs = 10_000) => {
  const log = memoryEventLog();
  const views = memoryViewStore([audit.schema]);
  const clock = { now: () => Date.now() };
  const errors: unknown[] = [];
  const onError = (error: unknown) => errors.push(error);
  const project = () => inlineProjector({ log, views, projections: [audit], clock, gatherMs: 1, onError });
  let projector = await project();
  const principals = new Map<string, Principal>([
    ["csk_admin", ADMIN_KEY],
    ["csk_viewer", VIEWER_KEY],
    ["csk_other", OTHER_KEY],
    ["owner", OWNER],
  ]);
  const progress = {
    onProgress: (...args: Parameters<typeof projector.onProgress>) => projector.onProgress(...args),
    waitFor: (...args: Parameters<typeof projector.waitFor>) => projector.waitFor(...args),
    lowest: () => projector.lowest(),
  };
  const aggregates = { watch: () => () => undefined };
  const app = await testApp(
    auditStreamRoutes({ views, log, progress, aggregates, positions: POSITIONS, onError, limits }),
    {
      authenticate: async ({ token }) => principals.get(token) ?? null,
      log,
      progress,
      limits: { closeGraceMs },
    },
  );
  await app.listen({ host: "127.0.0.1", port: 0 });
  const { port } = app.server.address() as AddressInfo;
  const sources: TestEventSource[] = [];
  let added = 0;
  return {
    app,
    url: `http://127.0.0.1:${port}/v1/audit/stream`,
    log,
    views,
    principals,
    errors,
    async add(count: number, account = "acc_a", text = "", isShown = true) {
      for (let i = 0; i < count; i += 1) {
        added += 1;
        const record = history().add("x-x", { type: "Happened", data: { added, text } }, { account });
        const id = `${String(added).padStart(8, "0")}-0000-8000-a000-000000000000`;
        await log.append(`delivery-evt_${account}_${added % 3}`, "any", [{ ...record, id }]);
      }
      if (!isShown) return;
      await until(
        "the view is up to date",
        async () => (await views.position(audit.schema.name)) === (await log.head()),
      );
    },
    async open(query = "", headers: Record<string, string> = KEY) {
      const source = await eventSource(`http://127.0.0.1:${port}/v1/audit/stream${query}`, headers);
      sources.push(source);
      return source;
    },
    stopProjector: () => projector.stop(),
    async startProjector() {
      projector = await project();
    },
    async close() {
      for (const source of sources) source.close();
      await app.close();
      await projector.stop();
    },
  };
};
type World = Awaited<ReturnType<typeof world>>;

const withWorld = async (run: (it: World) => Promise<void>, ...args: Parameters<typeof world>): Promise<void> => {
  const it = await world(...args);
  try {
    await run(it);
  } finally {
    await it.close();
  }
};

const dataOf = (source: TestEventSource): CloudEvent[] => source.events.map(({ data }) => JSON.parse(data));
const numbers = (source: TestEventSource): unknown[] => dataOf(source).map(({ data }) => data?.added);
const count = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, i) => from + i);
const arrived = (source: TestEventSource, events: number) =>
  until(`${events} events have come`, () => source.events.length >= events);
const behind = (id: string) => ({ ...KEY, "last-event-id": id });

test("records come as CloudEvents as they are recorded, beginning with the next one", () =>
  withWorld(async (it) => {
    await it.add(3);
    const source = await it.open();
    assert.is(source.status, 200);
    assert.match(source.headers["content-type"] ?? "", /^text\/event-stream/);
    assert.is(source.headers["cache-control"], "no-store");
    assert.is(source.headers["x-accel-buffering"], "no");
    assert.is(source.headers["content-length"], undefined);
    await until("it has begun", () => source.lastId() !== "");
    await it.add(40);
    await arrived(source, 40);
    assert.equal(numbers(source), count(4, 43));
    const [first] = source.events;
    assert.is(first?.id, "3-00000004");
    assert.is(first?.event, "io.countersign.Happened.v1");
    for (const event of dataOf(source)) assert.ok(new Validated({ ...event }, true).validate());
    assert.is(dataOf(source)[0]?.account, "acc_a");
  }));

test("a record from before the stream was asked for is passed over, also where the view shows it later", () =>
  withWorld(async (it) => {
    await it.add(2);
    await it.stopProjector();
    await it.add(3, "acc_a", "", false);
    const source = await it.open();
    await until("it has begun", () => source.lastId() === "1-00000002");
    assert.is(source.headers["countersign-position"], POSITIONS.of((await it.log.head()) ?? ""));
    await it.startProjector();
    await it.add(2);
    await arrived(source, 2);
    assert.equal(numbers(source), count(6, 7));
    assert.is(source.lastId(), "6-00000007");
  }));

test("it resumes behind any event, and behind none, without a gap or a repeat", () =>
  withWorld(async (it) => {
    await it.add(50);
    const all = await it.open("?from_index=0");
    await arrived(all, 50);
    assert.equal(numbers(all), count(1, 50));
    for (const at of [0, 17, 48]) {
      const source = await it.open("", behind(all.events[at]?.id ?? ""));
      await arrived(source, 49 - at);
      assert.is(source.headers["countersign-position"], dataOf(all)[at]?.position);
      assert.equal(numbers(source), count(at + 2, 50));
    }
    // A client that was there and has got nothing, and one that was there before the first record.
    const idle = await it.open();
    await until("it has begun", () => idle.lastId() !== "");
    idle.close();
    await it.add(2);
    const again = await it.open("", behind(idle.lastId()));
    await arrived(again, 2);
    assert.equal(numbers(again), [51, 52]);
    // The header of a client that comes back wins over the address that it began with.
    const both = await it.open("?from_index=0", behind(all.events[49]?.id ?? ""));
    await arrived(both, 2);
    assert.equal(numbers(both), [51, 52]);
  }));

test("a connection that breaks again and again is one stream without gaps", () =>
  withWorld(async (it) => {
    const seen: unknown[] = [];
    let last = "start";
    let written = 0;
    const writing = (async () => {
      for (; written < 200; written += 10) await it.add(10);
    })();
    while (seen.length < 200) {
      const source = await it.open("", behind(last));
      await until("something has come", () => source.events.length > 0);
      source.close();
      const got = source.events.slice(0, 7);
      seen.push(...got.map(({ data }) => JSON.parse(data).data.added));
      last = got.at(-1)?.id ?? last;
    }
    await writing;
    assert.equal(seen, count(1, 200));
  }));

test("the id survives a view that is folded anew; while it is behind, the client is told to come again", () =>
  withWorld(async (it) => {
    await it.add(30);
    const source = await it.open("?from_index=0");
    await arrived(source, 30);
    await it.stopProjector();
    await it.views.drop(audit.schema.name, await it.log.identity());
    const early = await it.open("", behind("20-00000021"));
    await until("it has answered", early.isEnded);
    assert.is(early.status, 503);
    assert.is(JSON.parse(early.text()).code, "view-behind");
    assert.ok(Number(early.headers["retry-after"]) > 0);
    // Beyond what the view counts, and not beyond what there is.
    const indexed = await it.open("?from_index=21");
    await until("it has answered", indexed.isEnded);
    assert.is(indexed.status, 503);
    assert.is(JSON.parse(indexed.text()).code, "view-behind");
    await it.startProjector();
    await it.add(5);
    const late = await it.open("", behind("20-00000021"));
    await arrived(late, 14);
    assert.equal(numbers(late), count(22, 35));
    // The stream that was open all the time has neither a repeat nor a gap.
    await arrived(source, 35);
    assert.equal(numbers(source), count(1, 35));
  }));

test("an id that is none of this account's stream is refused, and so is an index beyond the end", () =>
  withWorld(async (it) => {
    await it.add(3);
    await it.add(3, "acc_b");
    const foreign = ["0-00000004", "2-00000001", "3-00000004", "999999-00000001", "x", "1", "0-00000001, 1-00000002"];
    for (const id of [...foreign, "00-00000001", "-1-00000001", "9".repeat(30), "start "]) {
      const source = await it.open("", behind(id));
      if (id === "start ") {
        // White space around a value is none of it (RFC 9110, section 5.5).
        assert.is(source.status, 200);
        continue;
      }
      await until("it has answered", source.isEnded);
      assert.is(source.status, 400, id);
      const problem = JSON.parse(source.text());
      assert.is(problem.code, "invalid-request");
      assert.is(problem.errors[0].path, "/last-event-id");
    }
    for (const query of ["?from_index=4", "?from_index=-1", "?from_index=x", "?before=1"]) {
      const source = await it.open(query);
      await until("it has answered", source.isEnded);
      assert.is(source.status, 400, query);
    }
  }));

test("each account sees its own records alone, and only auditors do", () =>
  withWorld(async (it) => {
    await it.add(4);
    await it.add(6, "acc_b");
    const [own, other] = [await it.open("?from_index=0", COOKIE), await it.open("?from_index=0", bearer("csk_other"))];
    await arrived(own, 4);
    await arrived(other, 6);
    await it.add(1);
    await it.add(1, "acc_b");
    await arrived(own, 5);
    await arrived(other, 7);
    assert.equal(new Set(dataOf(own).map(({ account }) => account)), new Set(["acc_a"]));
    assert.equal(new Set(dataOf(other).map(({ account }) => account)), new Set(["acc_b"]));
    for (const [headers, status] of [
      [bearer("csk_viewer"), 403],
      [bearer("csk_unknown"), 401],
      [{}, 401],
    ] as const) {
      const source = await it.open("", { ...headers });
      assert.is(source.status, status);
    }
  }));

test("what is stored sealed is not shown", () =>
  withWorld(async (it) => {
    const source = await it.open("", behind("start"));
    const { add, events } = history();
    add("source-src_1", { type: "SourceRegistered", data: { secret: "ciphertext" } }, { account: "acc_a" });
    await appendTo(it.log, events);
    await arrived(source, 1);
    assert.equal(dataOf(source)[0]?.data, { secret: "[sealed]" });
  }));

test("a silent stream is kept alive by comments", () =>
  withWorld(
    async (it) => {
      const source = await it.open();
      await until("three heartbeats", () => source.comments() >= 3);
      assert.is(source.events.length, 0);
      await it.add(1);
      await arrived(source, 1);
    },
    { heartbeatMs: 20 },
  ));

test("it ends when the key is revoked, loses its role, or comes to belong to another account", async () => {
  for (const become of [null, { ...ADMIN_KEY, role: "viewer" }, OTHER_KEY] as const)
    await withWorld(
      async (it) => {
        const source = await it.open();
        await it.add(1);
        await arrived(source, 1);
        if (become === null) it.principals.delete("csk_admin");
        else it.principals.set("csk_admin", become);
        await until("it has ended", source.isEnded);
      },
      { recheckMs: 20 },
    );
});

test("an account may have so many streams, and all together so many; one that ends makes room", () =>
  withWorld(
    async (it) => {
      const [first] = [await it.open(), await it.open()];
      const third = await it.open();
      assert.is(third.status, 429);
      await until("it has answered", third.isEnded);
      assert.is(JSON.parse(third.text()).code, "rate-limited");
      assert.ok(Number(third.headers["retry-after"]) > 0);
      const other = await it.open("", bearer("csk_other"));
      assert.is(other.status, 200);
      const fourth = await it.open("", bearer("csk_other"));
      assert.is(fourth.status, 503);
      await until("it has answered", fourth.isEnded);
      assert.is(JSON.parse(fourth.text()).code, "overloaded");
      // A refused request takes no place.
      for (let i = 0; i < 5; i += 1) assert.is((await it.open("", behind("nonsense"))).status, 429);
      first?.close();
      await until("there is room again", async () => (await it.open("", bearer("csk_other"))).status === 200);
      for (let i = 0; i < 5; i += 1) assert.is.not((await it.open("", behind("nonsense"))).status, 200);
    },
    { accountMax: 2, max: 3 },
  ));

test("a client that goes before it is answered leaves nothing behind", () =>
  withWorld(
    async (it) => {
      await it.add(50);
      for (let i = 0; i < 30; i += 1) {
        const gone = get(`${it.url}?from_index=0`, { headers: KEY, agent: false }).on("error", () => undefined);
        setTimeout(() => gone.destroy(), i % 6);
        await new Promise((resolve) => gone.once("close", resolve));
      }
      await until("there is room", async () => (await it.open()).status === 200);
    },
    { accountMax: 1 },
  ));

test("HEAD answers without a body and holds no place", () =>
  withWorld(
    async (it) => {
      for (let i = 0; i < 5; i += 1) {
        const { statusCode, headers, body } = await it.app.inject({
          method: "HEAD",
          url: "/v1/audit/stream",
          headers: KEY,
        });
        assert.is(statusCode, 200);
        assert.match(String(headers["content-type"]), "text/event-stream");
        assert.is(body, "");
      }
    },
    { accountMax: 1 },
  ));

test("a client that does not read is not read for: little is kept for it, and in the end it is cut off", () =>
  withWorld(
    async (it) => {
      await it.add(400, "acc_a", "x".repeat(50_000));
      let reads = 0;
      const { read } = it.log;
      Object.assign(it.log, {
        read: (...args: Parameters<EventLog["read"]>) => {
          reads += 1;
          return read(...args);
        },
      });
      const source = await it.open("?from_index=0");
      source.pause();
      const connections = () =>
        new Promise<number>((resolve) => it.app.server.getConnections((_error, open) => resolve(open)));
      await until("it is cut off", async () => reads > 0 && (await connections()) === 0);
      // The sockets' buffers take some MiB; 400 records are 20.
      assert.ok(reads < 300, `${reads} records were read`);
    },
    { drainMs: 200 },
  ));

test("when the server closes the streams end at once, and it can close", () =>
  withWorld(async (it) => {
    const sources = [await it.open(), await it.open(), await it.open()];
    const startedAt = performance.now();
    await it.app.close();
    assert.ok(performance.now() - startedAt < 3_000);
    await until("all have ended", () => sources.every((source) => source.isEnded()));
  }));

test("the description shows the header, the parameter and the content type", () =>
  withWorld(async (it) => {
    const { paths } = (await it.app.inject("/openapi.json")).json();
    const { parameters, responses } = paths["/v1/audit/stream"].get;
    const names = parameters.map(({ in: place, name }: { in: string; name: string }) => `${place} ${name}`).sort();
    assert.equal(names, ["header last-event-id", "query after", "query from_index"]);
    assert.equal(Object.keys(responses["200"].content), ["text/event-stream"]);
  }));

test.run();
