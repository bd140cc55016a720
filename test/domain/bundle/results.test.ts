import * as fc from "fast-check";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import {
  fieldPathOf,
  MALFORMED_MAX,
  referencesOf,
  resolveReferences,
  type StepResult,
} from "../../../domain/bundle/results.ts";
import type { Json } from "../../../domain/json.ts";

const test = suite("results of earlier steps");

const result = (step: number, pointer: string) => ({ $result: { step, pointer } });

test("references are found anywhere in a payload, each with its path", () => {
  const payload = { order: result(0, "/id"), lines: [1, result(2, "/a~1b/0")], "a/b~c": { $ref: 1, x: result(1, "") } };
  assert.equal(referencesOf(payload), {
    references: [
      { path: "/order", step: 0, pointer: "/id" },
      { path: "/lines/1", step: 2, pointer: "/a~1b/0" },
      { path: "/a~1b~0c/x", step: 1, pointer: "" },
    ],
    malformed: [],
  });
  assert.equal(referencesOf(result(0, "/id")).references, [{ path: "", step: 0, pointer: "/id" }]);
  assert.equal(referencesOf({ a: [null, true, "x", 1] }).references, []);
});

test("a reference with further members is malformed", () => {
  const payload = { a: { $result: { step: 0, pointer: "/id" }, more: 1 } };
  const { references, malformed } = referencesOf(payload);
  assert.equal([references, malformed.map(({ path }) => path)], [[], ["/a"]]);
  assert.not(resolveReferences(payload, () => ({ body: 1 })).ok);
});

test("a report of malformed references stays small for any number and length of them", () => {
  const name = "~".repeat(100_000);
  const many = Array.from({ length: 1_000 }, () => ({ $result: 1 }));
  const { malformed } = referencesOf({ [name]: many });
  assert.is(malformed.length, MALFORMED_MAX);
  assert.ok(JSON.stringify(malformed).length < 20_000);
  for (const reference of [result(0, "/nothing"), { $result: 1 }]) {
    const it = resolveReferences({ [name]: reference }, () => ({ body: {} }));
    assert.ok(!it.ok && it.path.startsWith("/~0~0") && it.path.length < 300);
  }
});

test("a reference may have a path of any length", () => {
  assert.equal(fieldPathOf({ path: "" }), []);
  assert.equal(fieldPathOf({ path: "/a~1b~0c/0/x" }), ["a/b~c", "0", "x"]);
  assert.is(fieldPathOf({ path: "/x".repeat(300) }).length, 300);
});

test("an object that only looks like a reference is reported", () => {
  const malformed: readonly Json[] = [
    ...[null, 0, "/id", [], {}, { step: 0 }, { pointer: "/id" }, { step: 0, pointer: "/id", more: 1 }],
    ...[
      { step: -1, pointer: "" },
      { step: 0.5, pointer: "" },
      { step: "0", pointer: "" },
      { step: 0, pointer: null },
    ],
    // No JSON Pointer: RFC 6901, section 3.
    ...[
      { step: 0, pointer: "id" },
      { step: 0, pointer: "/a~2" },
      { step: 0, pointer: "/~" },
    ],
  ];
  for (const it of malformed) {
    const { references, malformed: found } = referencesOf({ a: { $result: it } });
    assert.equal([references, found.map(({ path }) => path)], [[], ["/a"]], JSON.stringify(it));
    assert.not(resolveReferences({ a: { $result: it } }, () => ({ body: 1 })).ok);
  }
});

test("a payload has at most a hundred references", () => {
  const payload = Array.from({ length: 101 }, () => result(0, ""));
  const { references, malformed } = referencesOf(payload);
  assert.is(references.length, 100);
  assert.equal(malformed, [{ path: "/100", detail: "is one more than 100 results in one payload" }]);
});

test("each reference is replaced by the answer's value at its pointer", () => {
  const answers: readonly Json[] = [{ id: "ch_1", "a/b": [10, 20] }, "text", null];
  const resultAt = (step: number): StepResult => ({ body: answers[step] ?? null });
  const payload = { id: result(0, "/id"), nth: result(0, "/a~1b/1"), whole: [result(1, "")], none: result(2, "") };
  assert.equal(resolveReferences(payload, resultAt), {
    ok: true,
    payload: { id: "ch_1", nth: 20, whole: ["text"], none: null },
  });
});

test("the first reference without an answer is reported by its path", () => {
  const resultAt = (step: number): StepResult =>
    step === 0 ? { body: { id: 1, list: [1] } } : { missing: "has an answer that is no text" };
  const missing = (pointer: string, step = 0) =>
    resolveReferences({ a: 1, b: result(step, pointer), c: result(9, "") }, resultAt);
  for (const pointer of ["/di", "/id/0", "/list/1", "/list/01", "/list/-", "/constructor"]) {
    assert.equal(missing(pointer), {
      ok: false,
      path: "/b",
      detail: `step 0 has answered nothing at ${JSON.stringify(pointer)}`,
    });
  }
  assert.equal(missing("", 1), { ok: false, path: "/b", detail: "step 1 has an answer that is no text" });
});

test("an answer is data, whatever it looks like", () => {
  const answer = { $result: { step: 1, pointer: "/secret" } };
  assert.equal(
    resolveReferences({ a: result(0, "") }, () => ({ body: answer })),
    { ok: true, payload: { a: answer } },
  );
});

test("a payload without references stays the same", () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      const payload: Json = JSON.parse(text);
      if (referencesOf(payload).malformed.length > 0) return;
      const it = resolveReferences(payload, () => ({ missing: "has no answer" }));
      assert.is(it.ok && JSON.stringify(it.payload), JSON.stringify(payload));
    }),
  );
});

test.run();
