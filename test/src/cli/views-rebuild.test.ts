import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { sqliteEventLog } from "../../../infra/sqlite/event-log.ts";
import { sqliteViewStore } from "../../../infra/sqlite/view-store.ts";
import { audit } from "../../../projections/audit.ts";
import { openLog, openViews } from "../../../src/engine/open-engines.ts";
import { broadHistory } from "../../support/broad-history.ts";
import { countersign } from "../../support/command-line.ts";
import { locationsIn, sharedEngines } from "../../support/engine-sets.ts";
import { appendTo } from "../../support/history.ts";
import { appendNumbered } from "../../support/numbered-log.ts";

const view = audit.schema.name;
const rebuild = (directory: string, ...args: readonly string[]) =>
  countersign(["views", "rebuild", ...args], { env: { DATA_DIR: directory } });

const test = suite<{ directory: string }>("countersign views rebuild");

test.before.each((context) => {
  context.directory = mkdtempSync(join(tmpdir(), "rebuild-"));
});
test.after.each(({ directory }) => rmSync(directory, { recursive: true, force: true }));

test("a view is folded again from the log, even when it was kept with another declaration", async ({ directory }) => {
  const log = await sqliteEventLog({ path: join(directory, "log.db") });
  const last = await appendNumbered(log, 1, 20);
  await log.close();
  const path = join(directory, "views.db");
  const other = { name: view, fields: {}, indexes: [] };
  const old = sqliteViewStore({ path, schemas: [other, { ...other, name: "gone.v1" }] });
  await old.commit(view, null, last, { documents: new Map([["wrong", { wrong: true }]]) });
  await old.close();

  for (const [wanted, removed] of [
    [[view], view],
    [["all"], "gone.v1"],
    [[], view],
  ] as const) {
    const { status, stdout, stderr } = await rebuild(directory, ...wanted);
    assert.is(status, 0, stderr);
    assert.match(stderr, removed);
    assert.match(stdout, view);
    const views = sqliteViewStore({ path, schemas: [audit.schema] });
    assert.is(await views.position(view), last);
    assert.is(await views.get(view, "wrong"), null);
    assert.is((await views.get(view, "acc_1"))?.count, 20);
    await views.close();
  }
});

const shared = sharedEngines("views rebuild on EventStoreDB and MongoDB");
if (shared !== null) {
  test("views in MongoDB are folded again from the log in EventStoreDB", async ({ directory }) => {
    const engines = await shared.open();
    const locations = locationsIn(engines, directory);
    const log = await openLog(locations.log);
    await appendTo(log, broadHistory().events);
    const views = await openViews(locations.views, [audit.schema]);
    const first = (await log.readAll(null, 1))[0]?.position ?? "";
    await views.commit(view, null, first, { documents: new Map([["wrong", { wrong: true }]]) });

    const { status, stderr } = await countersign(["views", "rebuild", view], { env: engines.env });
    assert.is(status, 0, stderr);
    assert.is(await views.get(view, "wrong"), null);
    assert.ok(Number((await views.get(view, "acc_1"))?.count) > 10);
    await views.close();
    await log.close();
    await engines.close();
  });
}

test("a wrong call says how it is to be made, and changes nothing", async ({ directory }) => {
  for (const args of [["nothing.v1"], [view, view], ["--force"]]) {
    const { status, stderr } = await rebuild(directory, ...args);
    assert.is(status, 2);
    assert.match(stderr, "usage: countersign views rebuild [<view>|all]");
  }
  const { status, stderr } = await rebuild(directory, "all");
  assert.is(status, 2);
  assert.match(stderr, "There is no log.db in");
});

test.run();
