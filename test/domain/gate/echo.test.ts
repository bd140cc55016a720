import { suite } from "uvu";
import * as assert from "uvu/assert";
import { echoOf } from "../../../domain/gate/echo.ts";
import type { FieldPath } from "../../../domain/gate/field-path.ts";

const test = suite("what an answer repeats");

const PAYLOAD = {
  card: { number: "4242 4242", cvc: 123, holder: "Ada L" },
  list: [{ iban: "DE89" }, { iban: "FR76" }],
};
const PATHS: readonly FieldPath[] = [["card"], ["list", "iban"]];

test("every value inside a hidden field is recognised, wherever it stands in a text", () => {
  const { hides } = echoOf(PAYLOAD, PATHS);
  for (const text of ["paid with 4242 4242.", "ADA L", "de89", "x?i=FR76", "4242%204242", "4242+4242", "123", " 123 "])
    assert.ok(hides(text), text);
  for (const text of ["paid", "4242", "", "1234", "DE 89", "%zz"]) assert.not.ok(hides(text), text);
});

test("a short value is recognised only where it is the whole of a text, and an empty one never", () => {
  const { hides } = echoOf({ a: "1", b: "", c: true, d: null }, [["a"], ["b"], ["c"], ["d"]]);
  assert.ok(hides("1"));
  for (const text of ["12", "", "true", "null"]) assert.not.ok(hides(text), text);
});

test("a member with the name of a hidden field is recognised, whatever its value", () => {
  const { hidesName } = echoOf(PAYLOAD, [...PATHS, ["list", "0"], []]);
  for (const name of ["card", "Card", "iban", "list"]) assert.ok(hidesName(name), name);
  for (const name of ["0", "cards", ""]) assert.not.ok(hidesName(name), name);
});

test("a path that leads nowhere recognises nothing but its name", () => {
  const { hides, hidesName } = echoOf({ __proto__: null, a: 1 }, [["b", "c"], ["a", "d"], ["constructor"]]);
  assert.not.ok(hides("1") || hides("function"));
  assert.ok(hidesName("c") && hidesName("constructor"));
});

test.run();
