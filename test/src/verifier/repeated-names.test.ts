import { suite } from "uvu";
import * as assert from "uvu/assert";
import { hasRepeatedName } from "../../../src/verifier/repeated-names.ts";

const test = suite("names that a line of JSON repeats");

test("a name counts once in each object, however it is written", () => {
  for (const text of [
    '{"a":1,"a":2}',
    '{"a":1,"b":{"a":1},"a":2}',
    '{"b":[{"a":1,"a":2}]}',
    '{"a":1,"\\u0061":2}',
    '{"a\\"b":1,"a\\"b":2}',
    `{"a":1,"a"${" ".repeat(100)}:2}`,
    '{"\\\\":1,"\\\\":2}',
  ])
    assert.ok(hasRepeatedName(text), text);
  for (const text of [
    "{}",
    "[]",
    '"a"',
    '{"a":"a","b":"a"}',
    '{"a":{"a":{"a":1}}}',
    '[{"a":1},{"a":2}]',
    '{"a":["a","a"],"b":"{\\"a\\":1,\\"a\\":2}"}',
    '{"a":"\\\\","b":"\\\\\\""}',
  ])
    assert.not.ok(hasRepeatedName(text), text);
});

test.run();
