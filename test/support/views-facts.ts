import { MongoClient } from "mongodb";
import * as assert from "uvu/assert";
import type { Document, ViewStore } from "../../domain/ports.ts";
import { PROJECTIONS } from "../../projections/all.ts";
import { openViewReader, type Places } from "../../src/engines.ts";
import { readLogAt } from "./log-facts.ts";
import { until } from "./program.ts";
import { projected } from "./projected.ts";

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
  const found = await views.getMany(view, ids);
  return Object.fromEntries(ids.filter((id) => found.has(id)).map((id) => [id, found.get(id) ?? {}]));
};

/** Waits until the views in MongoDB have all of the log, and compares every document with a fold of it from its beginning. */
export const viewsAreTheLog = async ({ log, views: place }: Places): Promise<void> => {
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
  await until("the views have all of the log", compared, 30_000);
  await views.close();
};
