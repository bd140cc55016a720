import * as fc from "fast-check";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { PROJECTIONS } from "../../projections/all.ts";
import { stats } from "../../projections/stats.ts";
import { folded } from "../support/projected.ts";
import { randomHistory } from "../support/random-history.ts";

const test = suite("rebuild");

test("a view folded again in pages of any size is the one that was folded event by event", () => {
  fc.assert(
    fc.property(randomHistory, fc.integer({ min: 2, max: 70 }), (log, pageSize) => {
      // The sums are of histories that the deciders allow (`stats.test.ts`).
      for (const projection of PROJECTIONS.filter((it) => it.schema !== stats.schema)) {
        const oneByOne = folded(projection, log.events, 1).all();
        assert.equal(folded(projection, log.events, pageSize).all(), oneByOne, projection.schema.name);
      }
    }),
    { numRuns: 60 },
  );
});

test("every declared field and index of a view can be searched, and every view has a different name", () => {
  const names = PROJECTIONS.map(({ schema }) => schema.name);
  assert.is(new Set(names).size, names.length);
  for (const { schema } of PROJECTIONS)
    for (const index of schema.indexes) for (const field of index) assert.ok(Object.hasOwn(schema.fields, field));
});

test.run();
