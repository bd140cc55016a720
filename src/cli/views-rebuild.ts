import { existsSync } from "node:fs";
import { removeViews } from "../../infra/sqlite/view-tables.ts";
import { PROJECTIONS } from "../../projections/all.ts";
import type { Projection } from "../../projections/projection.ts";
import { locationsOf, openLog, openViews, type ViewsLocation } from "../engine/open-engines.ts";
import { rebuildViews } from "../views/rebuild.ts";
import { type Command, type Env, UsageError } from "./command.ts";
import { checkExists } from "./log-location.ts";

/** Records of a page. This process does nothing else that could be delayed, and larger pages make fewer commits. */
const PAGE_MAX = 2_048;
const ALL = "all";

/** Only the variables of the engines are read, because rebuilding needs no key and no secret. */
const enginesOf = (env: Env) =>
  locationsOf({
    dataDir: env.DATA_DIR || "./data",
    eventstoreUrl: env.EVENTSTORE_URL || null,
    mongodbUrl: env.MONGODB_URL || null,
  });

/** Drops the view's tables, too, as their declaration may have changed. "all" also drops views no longer declared. */
const removed = (views: ViewsLocation, wanted: string): readonly string[] =>
  views.engine === "sqlite" && existsSync(views.path)
    ? removeViews(views.path, wanted === ALL ? undefined : [wanted])
    : [];

const names = (projections: readonly Projection[]): string => projections.map(({ schema }) => schema.name).join(", ");

export const viewsRebuild: Command = {
  synopsis: `[<view>|${ALL}]`,
  help: [
    "Rebuilds one view, or all, from the log, with the engines of the environment: DATA_DIR,",
    "EVENTSTORE_URL, MONGODB_URL. The views start empty; the service may run.",
    `<view>  ${names(PROJECTIONS)}; left out: ${ALL}`,
  ],
  async run({ positionals: [wanted = ALL, ...others] }, env, terminal) {
    const projections = PROJECTIONS.filter(({ schema }) => wanted === ALL || schema.name === wanted);
    if (projections.length === 0 || others.length > 0)
      throw new UsageError(`views rebuild takes one of ${ALL}, ${names(PROJECTIONS)}.`);
    const places = enginesOf(env);
    checkExists(places.log);
    const started = performance.now();
    const log = await openLog(places.log, { readOnly: true });
    try {
      terminal.note(`removed ${removed(places.views, wanted).join(", ") || "nothing"}`);
      const schemas = projections.map(({ schema }) => schema);
      const views = await openViews(places.views, schemas);
      try {
        await rebuildViews(log, views, projections, { pageMax: PAGE_MAX });
      } finally {
        await views.close();
      }
    } finally {
      await log.close();
    }
    const seconds = ((performance.now() - started) / 1_000).toFixed(1);
    terminal.out(`folded ${names(projections)} in ${seconds} s`);
  },
};
