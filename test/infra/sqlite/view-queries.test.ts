import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { ViewSchema } from "../../../domain/ports/view-store.ts";
import { type Database, DatabaseSync } from "../../../infra/sqlite/driver.ts";
import { viewQueries } from "../../../infra/sqlite/view-queries.ts";
import { openViews } from "../../../infra/sqlite/view-tables.ts";
import { removeFolder, temporaryFolder } from "../../support/program.ts";

const schema: ViewSchema = {
  name: "things.v1",
  fields: { account: "text", state: "text", owner: "text", at: "text" },
  indexes: [
    ["account", "at"],
    ["account", "owner", "at"],
    ["account", "state", "at"],
  ],
};

const test = suite("queries of views in SQLite");

/** How SQLite would answer a page, in its own words. */
const planOf = (database: Database, lead: string | undefined, after?: { value: string; id: string }): string => {
  const prepared: string[] = [];
  const watched = {
    prepare(sql: string) {
      prepared.push(sql);
      return database.prepare(sql);
    },
  } as Pick<Database, "prepare"> as Database; // Queries prepare statements, and nothing else.
  const where = (["account", "owner", "state"] as const).map((field) => ({ field, is: "=", value: "x" }) as const);
  const sort = { field: "at", order: "desc" } as const;
  viewQueries(watched, new Map([[schema.name, schema]])).page(schema.name, {
    where,
    sort,
    limit: 5,
    ...(lead === undefined ? {} : { lead }),
    ...(after === undefined ? {} : { after }),
  });
  const cursor = after === undefined ? [] : [after.value, after.id];
  const explained = database.prepare(`EXPLAIN QUERY PLAN ${prepared[0]}`).all("x", "x", "x", ...cursor, 5);
  return explained.map(({ detail }) => String(detail)).join("; ");
};

test("a query with several indexed conditions uses the index of the leading one and sorts nothing", () => {
  const dir = temporaryFolder();
  try {
    const path = `${dir}/views.db`;
    openViews(path, new Map([[schema.name, schema]]), false).close();
    const database = new DatabaseSync(path);
    // A further page as well, for which SQLite by itself begins with the bound.
    for (const after of [undefined, { value: "2026", id: "x" }]) {
      assert.match(planOf(database, "owner", after), /things\.v1\/account\/owner\/at \(account=\? AND owner=\?/);
      assert.match(planOf(database, "state", after), /things\.v1\/account\/state\/at \(account=\? AND state=\?/);
      assert.match(planOf(database, undefined, after), /things\.v1\/account\/state\/at \(account=\? AND state=\?/);
      for (const lead of ["owner", "state", undefined]) assert.not.match(planOf(database, lead, after), /TEMP B-TREE/);
    }
    database.close();
  } finally {
    removeFolder(dir);
  }
});

test.run();
