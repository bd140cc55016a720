import { suite } from "uvu";
import * as assert from "uvu/assert";
import { comesFromResult, referencesOf, withReplacedReferences } from "../../../domain/bundle/results.ts";

const test = suite("where a payload's values come from");

const of = (step: number, pointer = "/id") => ({ $result: { step, pointer } });

test("each reference is replaced, and nothing else is touched", () => {
  const payload = { a: [of(0), 1], "b/~": { c: of(1, "") }, d: { $result: "odd" }, e: { $result: 1, f: 2 } };
  assert.equal(
    withReplacedReferences(payload, ({ path, step, pointer }) => `${path} ${step} ${pointer}`),
    { ...payload, a: ["/a/0 0 /id", 1], "b/~": { c: "/b~1~0/c 1 " } },
  );
  assert.is(
    withReplacedReferences(of(3), ({ path }) => `at "${path}"`),
    'at ""',
  );
});

test("a value comes from a result where a reference stands at its place or above it", () => {
  const { references } = referencesOf({ order: of(0), list: [{ amount: of(0) }], "a/b": { c: of(0) }, sum: 1 });
  const comes = (...path: readonly string[]) => comesFromResult(references, path);
  assert.equal(
    [comes("order"), comes("order", "amount"), comes("list", "0", "amount"), comes("a/b", "c")],
    [true, true, true, true],
  );
  // Above it stands an object, which is known to be one.
  assert.equal(
    [comes("sum"), comes("list"), comes("list", "1", "amount"), comes("orders")],
    [false, false, false, false],
  );
  assert.ok(comesFromResult(referencesOf(of(0)).references, ["anything"]));
  assert.not(comesFromResult([], ["anything"]));
});

test.run();
