import { createHash } from "node:crypto";
import { test } from "uvu";
import * as assert from "uvu/assert";
import type { JsonObject } from "../../../domain/json.ts";
import { ask, claimOf } from "../../support/evidence-claims.ts";
import type { ExportedRecord } from "../../support/evidence-export.ts";

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

const noted = (data: ExportedRecord["data"], more: Partial<ExportedRecord> = {}): ExportedRecord => ({
  type: "Noted",
  data,
  ...more,
});

test("a count names the records that it rests on, and binds all of them by a digest over their indexes", async () => {
  const records = [noted({ n: 1 }), noted({ n: 2 }, { type: "Other" }), noted({ n: 3 })];
  const found = await ask(claimOf({ ask: "count", of: { type: ["Noted"] } }), records);
  assert.is(found.holds, null);
  assert.equal(found.result, { count: 2 });
  assert.equal(found.rests_on, { records: 2, first: 0, last: 2, indexes: [0, 2], sha256: sha256("0\n2\n") });
});

test("a count is held against what the claim expects", async () => {
  const records = [noted({}), noted({})];
  const query = { ask: "count", of: { type: ["Noted"] } };
  assert.is((await ask(claimOf(query, { at_most: 1 }), records)).holds, false);
  assert.is((await ask(claimOf(query, { at_most: 2 }), records)).holds, true);
  assert.is((await ask(claimOf(query, { at_least: 3 }), records)).holds, false);
});

test("the period takes records from its first moment to just before its end", async () => {
  const at = (recorded_at: string) => noted({}, { recorded_at });
  const times = [
    "2025-12-31T23:59:59.999Z",
    "2026-01-01T00:00:00.000Z",
    "2026-01-31T23:59:59.999Z",
    "2026-02-01T00:00:00.000Z",
  ];
  const found = await ask(claimOf({ ask: "count", of: { type: ["Noted"] } }), times.map(at));
  assert.equal(found.rests_on.indexes, [1, 2]);
  const all = await ask(claimOf({ ask: "count", of: { type: ["Noted"], time: "any" } }), times.map(at));
  assert.is(all.result.count, 4);
});

const CONDITIONS: readonly (readonly [string, JsonObject, readonly number[]])[] = [
  ["is", { at: "/data/n", is: 1 }, [0]],
  ["is, by type", { at: "/data/n", is: "1" }, [1]],
  ["is_not, also where there is no value", { at: "/data/n", is_not: 1 }, [1, 2, 3, 4]],
  ["in", { at: "/data/n", in: [1, "1"] }, [0, 1]],
  ["not_in", { at: "/data/n", not_in: [1, "1", 5] }, [3, 4]],
  ["at_least", { at: "/data/n", at_least: 2 }, [2]],
  ["at_most", { at: "/data/n", at_most: 2 }, [0]],
  ["exists", { at: "/data/n", exists: true }, [0, 1, 2]],
  ["exists not", { at: "/data/n", exists: false }, [3, 4]],
  [
    "some",
    {
      at: "/data/gates",
      some: [
        { at: "/gate", is: "budget" },
        { at: "/outcome", is: "deny" },
      ],
    },
    [4],
  ],
  ["own members only", { at: "/data/constructor", exists: true }, []],
  ["no length of a list", { at: "/data/gates/length", exists: true }, []],
  ["an escaped name", { at: "/data/a~1b~0c", is: true }, [3]],
];

for (const [name, where, expected] of CONDITIONS) {
  test(`a condition on a value: ${name}`, async () => {
    const gates = [
      { gate: "budget", outcome: "allow" },
      { gate: "budget", outcome: "deny" },
    ];
    const records = [noted({ n: 1 }), noted({ n: "1" }), noted({ n: 5 }), noted({ "a/b~c": true }), noted({ gates })];
    const found = await ask(claimOf({ ask: "count", of: { type: ["Noted"], where: [where] } }), records);
    assert.equal(found.rests_on.indexes, expected);
  });
}

test("records are chosen by actor and by the category of their stream", async () => {
  const records = [
    noted({}, { stream: "policy-pol_a", actor: { kind: "member", id: "m" } }),
    noted({}, { stream: "policy-pol_a", actor: { kind: "key", id: "k" } }),
    noted({}, { stream: "agent-agt_a", actor: { kind: "member", id: "m" } }),
  ];
  const found = await ask(claimOf({ ask: "count", of: { actor: ["member"], category: ["policy"] } }), records);
  assert.equal(found.rests_on.indexes, [0]);
});

test("different values are counted, the most frequent first", async () => {
  const records = ["a", "b", "b", "c"].map((kind) => noted({ kind }));
  const found = await ask(claimOf({ ask: "distinct", of: { type: ["Noted"] }, at: "/data/kind" }), records);
  assert.equal(found.result, {
    count: 4,
    different: 3,
    values: [
      { value: "b", count: 2, first_index: 1 },
      { value: "a", count: 1, first_index: 0 },
      { value: "c", count: 1, first_index: 3 },
    ],
  });
});

test("a list shows the first records and counts all", async () => {
  const records = [noted({ n: 1 }), noted({ n: [2, "x"] }), noted({ n: 3 })];
  const show = [{ label: "number", at: "/data/n" }];
  const found = await ask(claimOf({ ask: "list", of: { type: ["Noted"] }, show, first: 2 }), records);
  const recorded_at = "2026-01-15T12:00:00.000Z";
  assert.equal(found.result, {
    count: 3,
    labels: ["number"],
    rows: [
      { index: 0, recorded_at, type: "Noted", values: [1] },
      { index: 1, recorded_at, type: "Noted", values: ['[2,"x"]'] },
    ],
  });
});

test("a question that would remember too much has no answer, and the others have theirs", async () => {
  const records = Array.from({ length: 20 }, (_, n) => noted({ n }));
  const query = { ask: "distinct", of: { type: ["Noted"] }, at: "/data/n" };
  const found = await ask(claimOf(query), records, { keysMax: 10 });
  assert.match(String(found.unanswered), /more than 10 records together \(KEYS_MAX\)/);
  assert.is(found.holds, null);
  assert.is((await ask(claimOf(query), records, { keysMax: 20 })).unanswered, null);
});

test.run();
