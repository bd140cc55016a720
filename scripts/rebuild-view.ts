/** Folds one view, or all, again from the log: `node build/scripts/rebuild-view.js <DATA_DIR> <view|all>`. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { sqliteEventLog } from "../infra/sqlite/event-log.ts";
import { sqliteViewStore } from "../infra/sqlite/view-store.ts";
import { removeViews } from "../infra/sqlite/view-tables.ts";
import { PROJECTIONS } from "../projections/all.ts";
import { rebuildViews } from "../src/loops/rebuild.ts";

/** Folding is all that this process does: larger pages make fewer commits. */
const PAGE_MAX = 2_048;
const EXIT_USAGE = 2;

const rebuild = async (dataDir: string, wanted: string): Promise<void> => {
  const projections = PROJECTIONS.filter(({ schema }) => wanted === "all" || schema.name === wanted);
  const viewsPath = join(dataDir, "views.db");
  const started = performance.now();
  const log = await sqliteEventLog({ path: join(dataDir, "log.db"), readOnly: true });
  // Removed with their tables, as the declaration may have changed; `all` takes versions along that nobody declares.
  const removed = existsSync(viewsPath) ? removeViews(viewsPath, wanted === "all" ? undefined : [wanted]) : [];
  const views = sqliteViewStore({ path: viewsPath, schemas: projections.map(({ schema }) => schema) });
  try {
    await rebuildViews(log, views, projections, { pageMax: PAGE_MAX });
  } finally {
    await views.close();
    await log.close();
  }
  const seconds = ((performance.now() - started) / 1_000).toFixed(1);
  console.log(`removed ${removed.join(", ") || "nothing"}`);
  console.log(`folded ${projections.map(({ schema }) => schema.name).join(", ")} in ${seconds} s`);
};

const [dataDir, wanted] = process.argv.slice(2);
const names = PROJECTIONS.map(({ schema }) => schema.name);
if (dataDir === undefined || wanted === undefined || !(wanted === "all" || names.includes(wanted))) {
  console.error(`usage: rebuild-view <DATA_DIR> <${["all", ...names].join("|")}>`);
  process.exitCode = EXIT_USAGE;
} else if (!existsSync(join(dataDir, "log.db"))) {
  console.error(`There is no log.db in ${dataDir}.`);
  process.exitCode = EXIT_USAGE;
} else await rebuild(dataDir, wanted);
