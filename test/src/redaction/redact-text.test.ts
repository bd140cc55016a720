import * as fc from "fast-check";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { echoOf } from "../../../domain/gate/echo.ts";
import { parseFieldPath } from "../../../domain/gate/field-path.ts";
import { redactJson } from "../../../domain/gate/redact.ts";
import type { Json } from "../../../domain/json.ts";
import { redactText } from "../../../src/redaction/redact-text.ts";

const test = suite("what is hidden in a text");

const hiding = (text: string, ...paths: readonly string[]): string | null =>
  redactText(
    text,
    paths.map(parseFieldPath).filter((path) => path !== null),
  );

test("only hidden values change, and every other value keeps its spelling", () => {
  assert.is(
    hiding(
      '{"id": 12345678901234567890, "card" : {"n": [1]}, "a": [1.0, {"card": 1e400}], "t": "\\u00e9 \\"}"}',
      "card",
    ),
    '{"id":12345678901234567890,"card":"[redacted]","a":[1.0, {"card": 1e400}],"t":"\\u00e9 \\"}"}',
  );
  assert.is(
    hiding('{"a":[{"card":1},[{"card":2}],3]}', "a.card"),
    '{"a":[{"card":"[redacted]"},[{"card":"[redacted]"}],3]}',
  );
  assert.is(hiding('{"a":[{"card":1},{"card":2}]}', "a.1.card"), '{"a":[{"card":1},{"card":"[redacted]"}]}');
});

test("a duplicate or escaped name is hidden each time", () => {
  const text = '{"card":"first","c\\u0061rd":"second","__proto__":{"x":1},"constructor":2}';
  const shown = hiding(text, "card", "__proto__", "constructor.name");
  assert.is(shown, '{"card":"[redacted]","c\\u0061rd":"[redacted]","__proto__":"[redacted]","constructor":2}');
});

test("text that is not JSON is not shown, and deep nesting is read to its end", () => {
  for (const text of ["", "card=1", '{"card":1', '\ufeff{"card":1}']) assert.is(hiding(text, "card"), null);
  const deep = "[".repeat(100_000) + "]".repeat(100_000);
  assert.is(hiding(`{"a":${deep},"card":1}`, "card"), `{"a":${deep},"card":"[redacted]"}`);
});

test("rewriting a text hides the same values as rewriting parsed JSON", () => {
  const names = fc.constantFrom("a", "b", "0", "1", "__proto__");
  const json = fc.letrec((tie) => ({
    value: fc.oneof({ depthSize: "medium" }, fc.constantFrom(null, 1, "x", true), tie("list"), tie("object")),
    list: fc.array(tie("value"), { maxLength: 3 }),
    object: fc.array(fc.tuple(names, tie("value")), { maxLength: 4 }).map((members) => Object.fromEntries(members)),
  })).value;
  fc.assert(
    fc.property(json, fc.array(fc.array(names, { maxLength: 4 }), { maxLength: 3 }), (value, paths) => {
      const text = JSON.stringify(value);
      // What was written as JSON is.
      assert.is(redactText(text, paths), JSON.stringify(redactJson(JSON.parse(text) as Json, paths)));
    }),
    { numRuns: 500 },
  );
});

test("a hidden value that a target repeats is hidden as a value, in a text, as a name and under the field's name", () => {
  const echo = echoOf({ card: { number: "4242-4242", cvc: 123 } }, [["card"]]);
  const answer =
    '{"ok":true,"id":12345678901234567890,"say":"card 4242-4242 ok","deep":[{"n":"4242\\u002d4242"},[123,1234]],"4242-4242":1,"x":{"CARD":{"n":[]}}}';
  assert.is(
    redactText(answer, [["card"]], echo),
    '{"ok":true,"id":12345678901234567890,"say":"[redacted]","deep":[{"n":"[redacted]"},["[redacted]",1234]],"[redacted]":1,"x":{"CARD":"[redacted]"}}',
  );
  assert.is(redactText('"4242-4242"', [["card"]], echo), '"[redacted]"');
  assert.is(redactText("4242-4242", [["card"]], echo), null);
  assert.is(redactText("[".repeat(100_000) + "]".repeat(100_000), [["card"]], echo), null);
});

test.run();
