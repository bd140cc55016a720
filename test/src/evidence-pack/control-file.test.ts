import { test } from "uvu";
import * as assert from "uvu/assert";
import type { Json, JsonObject } from "../../../domain/json.ts";
import { type ControlFile, controlFileIn } from "../../../src/evidence-pack/control-file.ts";
import { GENERIC } from "../../../src/evidence-pack/frameworks/generic.ts";
import { SOC2 } from "../../../src/evidence-pack/frameworks/soc2.ts";
import { claimOf, controlFileWith } from "../../support/evidence-claims.ts";

const COUNT = { ask: "count", of: { type: ["Noted"] } };

const fileOf = (query: Json, expect?: JsonObject): JsonObject => controlFileWith(claimOf(query, expect));

test("the control files that come with the product are valid", () => {
  const ids = (file: ControlFile) => file.controls.map(({ id }) => id);
  const criteria = ["CC6.1", "CC6.2", "CC6.3", "CC7.2", "CC7.3", "CC8.1", "PI1.2", "PI1.3", "PI1.4", "PI1.5", "C1.2"];
  assert.equal(ids(controlFileIn(SOC2)), criteria);
  assert.equal(ids(controlFileIn(GENERIC)), ["approvals", "money", "changes", "access", "operation", "data"]);
});

const needs = (...has: readonly JsonObject[]): Json => ({ ask: "every", of: { type: ["A"] }, has });
const need = (more: JsonObject): JsonObject => ({
  name: "n",
  of: { type: ["B"] },
  when: "before",
  key: "/data/id",
  ...more,
});

const REFUSED: readonly (readonly [string, Json, string])[] = [
  ["a file that is no object", [], "v: this build reads control files of version 1"],
  ["another version", { ...fileOf(COUNT), v: 2 }, "v: this build reads control files of version 1"],
  ["a misspelled member", { ...fileOf(COUNT), contrls: [] }, 'there is no member "contrls"'],
  [
    "an unknown question",
    fileOf({ ask: "sum" }),
    "query.ask: one of these is needed: count, distinct, list, every, budgets",
  ],
  [
    "a filter with a member that it does not have",
    fileOf({ ask: "count", of: { typ: ["A"] } }),
    'query.of: there is no member "typ"',
  ],
  [
    "types that are no list",
    fileOf({ ask: "count", of: { type: "A" } }),
    "query.of.type: a list with at least one element is needed",
  ],
  ["a path that is no pointer", fileOf({ ask: "distinct", of: {}, at: "data.kind" }), "query.at: a JSON Pointer"],
  [
    "two tests in one condition",
    fileOf({ ask: "count", of: { where: [{ at: "", is: 1, exists: true }] } }),
    "exactly one of is, is_not",
  ],
  ["an expectation of a join", fileOf(needs(need({})), { at_most: 0 }), 'expect: "every" says itself what is expected'],
  [
    "a reference to an unknown need",
    fileOf(needs(need({ match: { of: "m", at: "/id" } }))),
    "match.of: one of these is needed: subject",
  ],
  ["a need called like another", fileOf(needs(need({}), need({}))), 'the name "n" is taken'],
  ["latest without must_be", fileOf(needs(need({ when: "latest" }))), "must_be belongs to latest"],
  [
    "two needs after the subject",
    fileOf(needs(need({ when: "after" }), need({ name: "m", when: "after" }))),
    "at most one need",
  ],
  ["a repeated claim", controlFileWith(claimOf(COUNT), claimOf(COUNT)), 'the id "claim" is there twice'],
  [
    "a claim of compliance",
    controlFileWith({ ...claimOf(COUNT), statement: "We comply." }),
    "say what the records may support",
  ],
  [
    "nothing that is not evidenced",
    { ...fileOf(COUNT), not_evidenced: [] },
    "not_evidenced: a list with at least one element",
  ],
];

for (const [name, file, sentence] of REFUSED) {
  test(`a control file is refused with a sentence: ${name}`, () => {
    assert.throws(
      () => controlFileIn(file),
      (error: Error) => error.message.includes(sentence) || assert.unreachable(error.message),
    );
  });
}

test("no word in the files that come with the product claims compliance", () => {
  for (const file of [SOC2, GENERIC]) assert.not.match(JSON.stringify(file), /compl(?:y|ies|ian)/i);
});

test.run();
