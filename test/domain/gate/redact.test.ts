import fc from "fast-check";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { type FieldPath, parseFieldPath, readField } from "../../../domain/gate/field-path.ts";
import { REDACTED, redactJson } from "../../../domain/gate/redact.ts";
import type { Json } from "../../../domain/json.ts";

const test = suite("redact");

/** As policies write them. */
const at = (...texts: readonly string[]): readonly FieldPath[] => texts.map((text) => parseFieldPath(text) ?? [text]);

test("values at the paths are replaced as a whole, the rest stays", () => {
  const payload = { id: 1, card: { number: "4242" }, data: { "a/b": [1, { pin: 2 }, 3] } };
  assert.equal(redactJson(payload, at("card", "/data/a~1b/1/pin")), {
    id: 1,
    card: REDACTED,
    data: { "a/b": [1, { pin: REDACTED }, 3] },
  });
});

test("a name that meets a list is looked for in each element", () => {
  const payload = { cards: [{ number: "1" }, { number: "2" }, "other"] };
  assert.equal(redactJson(payload, at("cards.number")), {
    cards: [{ number: REDACTED }, { number: REDACTED }, "other"],
  });
});

test("a path that leads nowhere changes nothing", () => {
  const payload = { a: [1], b: "text" };
  assert.equal(redactJson(payload, at("x.y", "a.7", "b.0", "constructor")), payload);
});

test("the empty path redacts the whole", () => {
  assert.equal(redactJson({ a: 1 }, [[]]), REDACTED);
});

test("fields with names of prototypes stay fields", () => {
  const payload: Json = JSON.parse('{"__proto__": {"a": 1}, "b": 2}');
  assert.is(JSON.stringify(redactJson(payload, at("b"))), `{"__proto__":{"a":1},"b":"${REDACTED}"}`);
  assert.is(JSON.stringify(redactJson(payload, at("__proto__.a"))), `{"__proto__":{"a":"${REDACTED}"},"b":2}`);
});

test("each object is visited once for any number of paths, and only to the ends of the paths", () => {
  let walks = 0;
  const counted = (object: Readonly<Record<string, Json>>): Json =>
    new Proxy(object, {
      ownKeys: (target) => {
        walks += 1;
        return Reflect.ownKeys(target);
      },
    });
  const members = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`k${index}`, index]));
  const payload = counted({ data: counted(members), other: counted({}) });
  const redacted = redactJson(payload, at(...Object.keys(members).map((name) => `data.${name}`)));
  assert.is(readField(redacted, ["data", "k99"]), REDACTED);
  assert.is(walks, 2);
});

const somePath = fc.array(fc.constantFrom("a", "b", "0", "1", "__proto__"), { minLength: 1, maxLength: 4 });
const someJson = fc.letrec<{ json: Json }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom<Json>(1, "text", null),
    fc.array(tie("json"), { maxLength: 3 }),
    fc
      .array(fc.tuple(fc.constantFrom("a", "b", "0", "__proto__"), tie("json")), { maxLength: 3 })
      .map((entries) => Object.fromEntries(entries) as Json),
  ),
})).json;

test("the input is never altered, and the value at a path is gone", () => {
  fc.assert(
    fc.property(someJson, fc.array(somePath, { maxLength: 3 }), (json, paths) => {
      const before = JSON.stringify(json);
      const redacted = redactJson(json, paths);
      assert.is(JSON.stringify(json), before);
      for (const path of paths) {
        const value = readField(redacted, path);
        assert.ok(value === undefined || value === REDACTED, path.join("."));
      }
      assert.equal(redactJson(redacted, paths), redacted);
    }),
  );
});

test.run();
