import { MongoClient } from "mongodb";
import * as assert from "uvu/assert";
import type { Document, ViewStore } from "../../domain/ports/view-store.ts";
import { ViewsUnavailable } from "../../infra/view-errors.ts";
import { PROJECTIONS } from "../../projections/all.ts";
import { type EngineLocations, openViewReader } from "../../src/engine/open-engines.ts";
import { readLogAt } from "./log-facts.ts";
import { until } from "./program.ts";
import { projected } from "./projected.ts";

const IDS_AT_ONCE = 500;

/** Every document of a view that is kept in MongoDB, by id. */
const documentsIn = async (url: string, views: ViewStore, view: string): Promise<Record<string, Document>> => {
  const client = new MongoClient(url);
  const stored = await client
    .db()
    .collection<{ _id: string }>(view)
    .find({}, { projection: { _id: 1 } })
    .toArray();
  await client.close();
  const ids = stored.map(({ _id }) => _id).sort();
  const documents: Record<string, Document> = {};
  for (let from = 0; from < ids.length; from += IDS_AT_ONCE) {
    const some = ids.slice(from, from + IDS_AT_ONCE);
    const found = await views.getMany(view, some);
    for (const id of some) if (found.has(id)) documents[id] = found.get(id) ?? {};
  }
  return documents;
};

/** Waits until the views in MongoDB have all of the log, and compares every document with a fold of it from its beginning. */
export const viewsAreTheLog = async ({ log, views: place }: EngineLocations): Promise<void> => {
  assert.is(place.engine, "mongodb");
  const url = place.engine === "mongodb" ? place.url : "";
  const schemas = PROJECTIONS.map(({ schema }) => schema);
  const views = await openViewReader(place, schemas);
  const positions = async () => new Set(await Promise.all(schemas.map(({ name }) => views.position(name))));
  const compared = async (): Promise<boolean> => {
    const records = (await readLogAt(log)).filter(({ stream }) => !stream.startsWith("payload-"));
    const head = records.at(-1)?.position ?? null;
    const areThere = async () => [...(await positions())].every((position) => position === head);
    if (!(await areThere())) return false;
    const kept = new Map<string, Record<string, Document>>();
    for (const { name } of schemas) kept.set(name, await documentsIn(url, views, name));
    // Something was written meanwhile.
    if (!(await areThere())) return false;
    for (const projection of PROJECTIONS) {
      const view = projection.schema.name;
      const fold = projected(projection);
      fold.apply(records);
      const [expected, actual] = [fold.all(), kept.get(view) ?? {}];
      assert.equal(Object.keys(actual), Object.keys(expected), `the ids of ${view}`);
      for (const [id, document] of Object.entries(expected)) assert.equal(actual[id], document, `${view} ${id}`);
    }
    return true;
  };
  /** The store gives up what takes a busy machine too long. */
  const laterPerhaps = (error: unknown): boolean => {
    if (error instanceof ViewsUnavailable) return false;
    throw error;
  };
  await until("the views have all of the log", () => compared().catch(laterPerhaps));
  await views.close();
};
