import { suite } from "uvu";
import * as assert from "uvu/assert";
import { memoryViewStore } from "../../../infra/memory/view-store.ts";
import { hasFolded, lossOf } from "../../../src/engine/lost-log.ts";
import { locationsOf } from "../../../src/engine/open-engines.ts";
import { PROJECTIONS } from "../../support/numbered-projections.ts";

const test = suite("what a lost log has left");

const DATA = { dataDir: "data", eventstoreUrl: null, mongodbUrl: null };
const SERVERS = { dataDir: "data", eventstoreUrl: "esdb://log:2113", mongodbUrl: "mongodb://views:27017/countersign" };
const KEY = "data/key";

test("a first start finds nothing of an earlier log", () => {
  for (const locations of [locationsOf(DATA), locationsOf(SERVERS)])
    assert.is(lossOf(locations, { keyFile: null, hasFolded: false }), null);
});

test("one sentence names what was left, and how to go on", () => {
  const told = lossOf(locationsOf(DATA), { keyFile: KEY, hasFolded: true });
  assert.is(
    told,
    "The event log is lost: data/log.db is missing or has no records, but an earlier log has left data/key and data/views.db. " +
      "Restore the log from a backup or copy it there (countersign log copy); to begin a new log, move data/key and data/views.db away.",
  );
  assert.match(
    lossOf(locationsOf(DATA), { keyFile: KEY, hasFolded: false }) ?? "",
    /has left data\/key\. .* move data\/key away\.$/,
  );
  assert.match(
    lossOf(locationsOf({ ...DATA, mongodbUrl: SERVERS.mongodbUrl }), { keyFile: KEY, hasFolded: true }) ?? "",
    /has left data\/key and the views at MONGODB_URL\. .* move data\/key away and name another database in MONGODB_URL\.$/,
  );
  assert.match(
    lossOf(locationsOf(SERVERS), { keyFile: null, hasFolded: true }) ?? "",
    /: EVENTSTORE_URL names an empty log, but .* left the views at MONGODB_URL\. .* log, name another database in MONGODB_URL\.$/,
  );
});

test("views are a trace once one of them has folded a record", async () => {
  const names = PROJECTIONS.map(({ schema }) => schema.name);
  const views = memoryViewStore(PROJECTIONS.map(({ schema }) => schema));
  for (const name of names) await views.drop(name, "a log");
  assert.is(await hasFolded(views, names), false);
  await views.commit(names.at(-1) ?? "", null, "1", { documents: new Map() });
  assert.is(await hasFolded(views, names), true);
});

test.run();
