import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { ViewSchema } from "../../../domain/ports/view-store.ts";
import { indexesOf } from "../../../infra/mongodb/prepare.ts";
import { countFilter, pageQuery } from "../../../infra/mongodb/queries.ts";

const schema: ViewSchema = {
  name: "things.v1",
  fields: { account: "text", at: "number" },
  indexes: [["account", "at"]],
};

const test = suite("queries of MongoDB");

test("a page is a range of the declared index in one direction, and so is each part after a cursor", () => {
  const where = [{ field: "account", is: "=", value: "x" }] as const;
  const after = { value: 7, id: "a" };
  assert.equal(pageQuery(schema, { where, sort: { field: "at", order: "desc" }, after, limit: 9 }), {
    filter: {
      $and: [
        { account: { $eq: "x" } },
        { at: { $gte: Number.NEGATIVE_INFINITY } },
        { at: { $lte: 7 } },
        { $or: [{ at: { $lt: 7 } }, { at: { $eq: 7 }, _id: { $lt: "a" } }] },
      ],
    },
    sort: { at: -1, _id: -1 },
    limit: 9,
  });
  assert.equal(
    indexesOf(schema).map(({ key }) => [...Object.entries(key)]),
    [
      [
        ["account", 1],
        ["at", 1],
        ["_id", 1],
      ],
      [["_removed", 1]],
    ],
  );
});

test("an ascending page has the opposite bounds, and text begins with the empty string", () => {
  const after = { value: "m\0", id: "a" };
  const asked = pageQuery(schema, { where: [], sort: { field: "account", order: "asc" }, after, limit: 50_000 });
  assert.equal(asked, {
    filter: {
      $and: [
        { account: { $gte: "" } },
        { account: { $gte: "m\ufffd" } },
        { $or: [{ account: { $gt: "m\ufffd" } }, { account: { $eq: "m\ufffd" }, _id: { $gt: "a" } }] },
      ],
    },
    sort: { account: 1, _id: 1 },
    limit: 10_000,
  });
});

test("a value of another type and a page without documents ask no server", () => {
  const sort = { field: "at", order: "asc" } as const;
  assert.is(pageQuery(schema, { where: [{ field: "at", is: ">", value: "1" }], sort, limit: 9 }), null);
  assert.is(pageQuery(schema, { where: [], sort, after: { value: "1", id: "a" }, limit: 9 }), null);
  for (const limit of [0, -1]) assert.is(pageQuery(schema, { where: [], sort, limit }), null);
  assert.is(countFilter(schema, [{ field: "account", is: "=", value: 1 }]), null);
});

test("an unknown field throws, and no operator of MongoDB can be injected", () => {
  const sort = { field: "at", order: "asc" } as const;
  assert.throws(() => pageQuery(schema, { where: [{ field: "$where", is: "=", value: "1" }], sort, limit: 1 }));
  assert.throws(() => pageQuery(schema, { where: [], sort: { field: "toString", order: "asc" }, limit: 1 }));
  // As from a caller that no compiler has seen.
  const odd = { field: "at", is: "constructor" as "=", value: 1 };
  assert.throws(() => countFilter(schema, [odd]));
});

test("counting everything leaves out removed documents", () => {
  assert.equal(countFilter(schema, []), { _removed: { $exists: false } });
  assert.equal(countFilter(schema, [{ field: "at", is: ">=", value: 1 }]), { $and: [{ at: { $gte: 1 } }] });
});

test.run();
