import type { Document } from "mongodb";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { mongoViewStore } from "../../../infra/mongodb/view-store.ts";
import { agreeing, startMongodbDouble } from "../../support/mongodb-double.ts";

const schemas = [{ name: "things.v1", fields: { at: "number" }, indexes: [["at"]] }] as const;
const test = suite("what MongoDB is asked to guarantee");

const WEAK = [
  "journal=false&w=1&wtimeoutMS=1&readConcernLevel=local&readPreference=secondary&retryWrites=false",
  "w=0&readConcernLevel=available&readPreference=nearest",
];

for (const settings of ["", ...WEAK])
  test(`reads and writes are those of a majority, and journaled: ${settings || "without settings"}`, async () => {
    const double = await startMongodbDouble();
    const commands: Document[] = [];
    double.answerWith((command) => {
      commands.push(command);
      return agreeing(command);
    });
    const views = await mongoViewStore({ url: `mongodb://${double.host}/countersign?${settings}`, schemas });
    await views.commit("things.v1", null, "1", { documents: new Map([["a", { at: 1 }]]) });
    await views.page("things.v1", { where: [], sort: { field: "at", order: "asc" }, limit: 1 });
    await views.close();
    await double.stop();
    const named = (name: string) => commands.filter((command) => command[name] !== undefined);
    const writes = [...named("insert"), ...named("update"), ...named("createIndexes")];
    assert.ok(named("insert").length > 0 && named("update").length > 0 && named("find").length > 0);
    for (const { writeConcern } of writes) assert.equal(writeConcern, { w: "majority", wtimeout: 10_000, j: true });
    for (const { readConcern } of named("find")) assert.equal(readConcern, { level: "majority" });
    for (const { $readPreference = { mode: "primary" } } of commands) assert.is($readPreference.mode, "primary");
  });

test.run();
