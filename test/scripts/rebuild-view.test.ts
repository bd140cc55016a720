import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { sqliteEventLog } from "../../infra/sqlite/event-log.ts";
import { sqliteViewStore } from "../../infra/sqlite/view-store.ts";
import { audit } from "../../projections/audit.ts";
import { appendNumbered } from "../support/numbered-log.ts";

const SCRIPT = fileURLToPath(new URL(`../../scripts/rebuild-view${extname(import.meta.url)}`, import.meta.url));
const run = (...args: readonly string[]) => spawnSync(process.execPath, [SCRIPT, ...args], { encoding: "utf8" });
const view = audit.schema.name;

type Context = { directory: string };
const test = suite<Context>("rebuild-view");

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
  await old.commit(view, null, last, new Map([["wrong", { wrong: true }]]));
  await old.close();

  for (const [wanted, removed] of [
    [view, view],
    ["all", "gone.v1"],
  ] as const) {
    const { status, stdout, stderr } = run(directory, wanted);
    assert.is(status, 0, stderr);
    assert.match(stdout, removed);
    const views = sqliteViewStore({ path, schemas: [audit.schema] });
    assert.is(await views.position(view), last);
    assert.is(await views.get(view, "wrong"), null);
    assert.is((await views.get(view, "acc_1"))?.count, 20);
    await views.close();
  }
});

test("a wrong call says how it is to be made, and changes nothing", ({ directory }) => {
  for (const args of [[], [directory], [directory, "nothing.v1"]]) {
    const { status, stderr } = run(...args);
    assert.is(status, 2);
    assert.match(stderr, "usage: rebuild-view <DATA_DIR>");
    assert.match(stderr, view);
  }
  const { status, stderr } = run(directory, "all");
  assert.is(status, 2);
  assert.match(stderr, "There is no log.db in");
});

test.run();
