import { test } from "uvu";
import * as assert from "uvu/assert";
import type { JsonObject } from "../../../domain/json.ts";
import { ask, claimOf, type Question } from "../../support/evidence-claims.ts";
import { AFTER_PERIOD, BEFORE_PERIOD, type ExportedRecord } from "../../support/evidence-export.ts";

const noted: ExportedRecord = { type: "Noted", data: { id: "x" } };
const ended: ExportedRecord = { type: "Ended", data: { id: "x" } };

const NO_VOTE = claimOf({ ask: "count", of: { type: ["VoteCast"] } }, { at_most: 0 });

const BOTH = /begins at record 100.*last record says 2026-01-15T12:00:00.000Z/;
const START = /begins at record 100, and that record is not from more than a minute before the period/;
const END = /last record says 2026-01-15T12:00:00.000Z, before the period's end/;

const SHORT = /last record says 2026-02-01T00:00:59.999Z, less than a minute after the period's end/;

const JUST_BEFORE: ExportedRecord = { ...noted, recorded_at: "2025-12-31T23:59:00.000Z" };
const JUST_AFTER: ExportedRecord = { ...noted, recorded_at: "2026-02-01T00:00:59.999Z" };

/** What the export is, and why a claim that nothing happened stays open with it; null if it holds. */
const EXPORTS: readonly (readonly [string, readonly ExportedRecord[], Question, RegExp | null])[] = [
  ["all records, with one after the period", [noted], {}, null],
  ["all records, the last of which is in the period", [noted], { isCut: true }, END],
  ["a part that begins within the period", [noted], { from: 100 }, START],
  ["a part that begins and ends within the period", [noted], { from: 100, isCut: true }, BOTH],
  ["a part that begins before the period", [BEFORE_PERIOD, noted], { from: 100 }, null],
  ["a part that begins before the period and ends in it", [BEFORE_PERIOD, noted], { from: 100, isCut: true }, END],
  ["a part that begins after the period", [AFTER_PERIOD], { from: 100 }, START],
  ["all records, the last of which is from just after the period", [noted, JUST_AFTER], { isCut: true }, SHORT],
  ["a part that begins just before the period", [JUST_BEFORE, noted], { from: 100 }, START],
  ["no record of an account that has none", [], { isCut: true }, /has no record/],
];

for (const [name, records, question, why] of EXPORTS) {
  test(`a claim of absence ${why === null ? "holds" : "stays open"} with ${name}`, async () => {
    const found = await ask(NO_VOTE, records, question);
    assert.is(found.in_export, true);
    assert.is(found.holds, why === null ? true : null);
    if (why === null) assert.is(found.open, null);
    else assert.match(found.open ?? "", why);
  });
}

test("what no further record can undo is said of a part too", async () => {
  const count = (expect: JsonObject) => ask(claimOf({ ask: "count", of: { type: ["Noted"] } }, expect), [noted], PART);
  const PART: Question = { from: 100, isCut: true };
  assert.is((await count({ at_least: 1 })).holds, true);
  assert.is((await count({ at_most: 0 })).holds, false);
  assert.is((await count({ at_least: 2 })).holds, null);
  assert.is((await count({ at_least: 1, at_most: 1 })).holds, null);
});

test("a claim about all times stays open without the account's first record", async () => {
  const claim = claimOf({ ask: "count", of: { type: ["VoteCast"], time: "any" } }, { at_most: 0 });
  assert.is((await ask(claim, [BEFORE_PERIOD, noted])).holds, true);
  const part = await ask(claim, [BEFORE_PERIOD, noted], { from: 100 });
  assert.is(part.holds, null);
  assert.match(part.open ?? "", /the claim needs the records before it/);
});

const every = (more: JsonObject): JsonObject =>
  claimOf({
    ask: "every",
    of: { type: ["Noted"] },
    has: [{ name: "its end", of: { type: ["Ended"] }, key: "/data/id", ...more }],
  });

test("that each record has what it needs stays open while there may be more such records", async () => {
  assert.is((await ask(every({ when: "before" }), [ended, noted])).holds, true);
  const cut = await ask(every({ when: "before" }), [ended, noted], { isCut: true });
  assert.equal([cut.holds, cut.in_export], [null, true]);
  assert.is(
    (await ask(every({ when: "before" }), [noted], { isCut: true })).holds,
    false,
    "nothing can come before it",
  );
});

test("a later record that is not there yet leaves a claim open until the period is over", async () => {
  assert.is((await ask(every({ when: "after" }), [noted], { isCut: true })).holds, null);
  assert.is((await ask(every({ when: "after" }), [noted])).holds, false);
});

test("that a record may not have stays open in a part, because it may lie before the part", async () => {
  const claim = every({ when: "latest", or_none: true, must_be: { where: [{ at: "/data/well", is: true }] } });
  assert.is((await ask(claim, [BEFORE_PERIOD, noted])).holds, true);
  assert.is((await ask(claim, [BEFORE_PERIOD, noted], { from: 100 })).holds, null);
});

test.run();
