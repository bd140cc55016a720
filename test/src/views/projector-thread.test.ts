import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import type { Worker } from "node:worker_threads";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { EventLog } from "../../../domain/ports/event-log.ts";
import { sqliteEventLog } from "../../../infra/sqlite/event-log.ts";
import { sqliteViewReader } from "../../../infra/sqlite/view-reader.ts";
import { sqliteViewStore } from "../../../infra/sqlite/view-store.ts";
import type { EngineLocations } from "../../../src/engine/open-engines.ts";
import type { ProjectorFailure } from "../../../src/views/projector.ts";
import { projectorThread } from "../../../src/views/projector-thread.ts";
import { appendNumbered, numbered } from "../../support/numbered-log.ts";
import { COUNTS, PROJECTIONS, REFUSES } from "../../support/numbered-projections.ts";
import { until } from "../../support/until.ts";

const url = new URL(`../../support/numbered-projections${extname(import.meta.url)}`, import.meta.url).href;
const module = { url, projections: PROJECTIONS };
const schemas = PROJECTIONS.map(({ schema }) => schema);
const VIEWS = schemas.map(({ name }) => name);
const WAIT_MS = 60_000;

type Context = { directory: string; logPath: string; viewsPath: string; locations: EngineLocations; log: EventLog };

const at = (logPath: string, viewsPath: string): EngineLocations => ({
  log: { engine: "sqlite", path: logPath },
  views: { engine: "sqlite", path: viewsPath },
});
const test = suite<Context>("projector thread");

test.before.each(async (context) => {
  context.directory = mkdtempSync(join(tmpdir(), "projector-"));
  context.logPath = join(context.directory, "log.db");
  context.viewsPath = join(context.directory, "views.db");
  context.locations = at(context.logPath, context.viewsPath);
  context.log = await sqliteEventLog({ path: context.logPath });
});
test.after.each(async ({ directory, log }) => {
  await log.close();
  rmSync(directory, { recursive: true, force: true });
});

test("a read that waits for a position sees its own write", async ({ log, viewsPath, locations }) => {
  const projecting = await projectorThread({ locations, module });
  const views = await sqliteViewReader({ path: viewsPath, schemas });
  for (let n = 1; n <= 5; n += 1) {
    const position = await appendNumbered(log, n, n);
    assert.is(await projecting.waitFor(VIEWS, position, WAIT_MS), true);
    assert.equal(await views.get(COUNTS, "all"), { count: n, sum: (n * (n + 1)) / 2 });
  }
  assert.is(await projecting.waitFor(VIEWS, "9".repeat(16), 10), false);
  const unknown = await projecting.waitFor(["others.v1"], "1", 10).catch(String);
  assert.match(String(unknown), "no projection keeps the view others.v1");
  await views.close();
  await projecting.stop();
  assert.not(projecting.healthy());
});

test("the progress shows the position and the lag of each view", async ({ log, locations }) => {
  const position = await appendNumbered(log, 1, 20);
  const moves = new Map<string, string | null>();
  const projecting = await projectorThread({ locations, module });
  projecting.onProgress((reached) => {
    for (const { view, position: at } of reached) moves.set(view, at);
  });
  const next = await appendNumbered(log, 21, 30);
  assert.is(await projecting.waitFor(VIEWS, next, WAIT_MS), true);
  await until("the lag is measured", async () => (await projecting.progress()).every((it) => it.position === next));
  assert.ok(projecting.healthy());
  assert.equal(
    await projecting.progress(),
    VIEWS.map((view) => ({ view, position: next, lag_events: 0, lag_s: 0 })),
  );
  assert.equal(moves, new Map(VIEWS.map((view) => [view, next])));
  assert.ok(next > position);
  await projecting.stop();
});

test("a failing projection is reported with its event, and its view's lag grows", async ({ log, locations }) => {
  const failures: ProjectorFailure[] = [];
  const onError = (failure: ProjectorFailure) => failures.push(failure);
  const projecting = await projectorThread({ locations, module, onError });
  const before = await appendNumbered(log, 1, 3);
  await log.append("source-x", "any", [numbered(4, {}, REFUSES)]);
  const last = await appendNumbered(log, 5, 6);
  assert.is(await projecting.waitFor([COUNTS], last, WAIT_MS), true);
  await until("it was reported", () => failures.length > 0);
  assert.is(failures[0]?.view, "fragile.v1");
  assert.match(String(failures[0]?.error), "fragile.v1 failed at Refused of source-x");
  const lagging = async () => (await projecting.progress()).find(({ view }) => view === "fragile.v1");
  await until("the lag is measured", async () => (await lagging())?.lag_events === 3);
  const lag = await lagging();
  assert.is(lag?.position, before);
  assert.ok(Number(lag?.lag_s) > 0);
  await projecting.stop();
});

test("a thread that dies is started again and goes on", async ({ log, viewsPath, locations }) => {
  const threads: Worker[] = [];
  const failures: ProjectorFailure[] = [];
  const onThread = (worker: Worker) => threads.push(worker);
  const onError = (failure: ProjectorFailure) => failures.push(failure);
  const projecting = await projectorThread({ locations, module, onThread, onError });
  assert.is(await projecting.waitFor(VIEWS, await appendNumbered(log, 1, 50), WAIT_MS), true);
  for (const round of [1, 2]) {
    // No message that it knows: it throws, and ends between two pages.
    threads.at(-1)?.postMessage(null);
    await until("it has ended", () => failures.length === round);
    const last = await appendNumbered(log, round * 50 + 1, round * 50 + 50);
    assert.is(await projecting.waitFor(VIEWS, last, WAIT_MS), true);
  }
  assert.is(threads.length, 3);
  assert.is(failures.length, 2);
  await projecting.stop();
  const views = sqliteViewStore({ path: viewsPath, schemas });
  assert.equal(await views.get(COUNTS, "all"), { count: 150, sum: (150 * 151) / 2 });
  await views.close();
});

test("files that cannot be used are refused at the start", async ({ logPath, viewsPath, directory }) => {
  const onError = () => assert.unreachable("nothing is tried again");
  const error = await projectorThread({ locations: at(join(directory, "none.db"), viewsPath), module, onError }).catch(
    String,
  );
  assert.type(error, "string");
  const [first] = schemas;
  if (first === undefined) throw new Error("there is a view");
  const other = { ...first, fields: { another: "text" }, indexes: [] } as const;
  const changedPath = join(directory, "changed.db");
  await sqliteViewStore({ path: changedPath, schemas: [other] }).close();
  const changed = await projectorThread({ locations: at(logPath, changedPath), module, onError }).catch(String);
  assert.match(String(changed), "kept with other fields or indexes");
});

test.run();
