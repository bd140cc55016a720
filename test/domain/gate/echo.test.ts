import { suite } from "uvu";
import * as assert from "uvu/assert";
import { type Echo, echoOf as echoOrNull } from "../../../domain/gate/echo.ts";
import type { FieldPath } from "../../../domain/gate/field-path.ts";
import type { Json } from "../../../domain/json.ts";

const test = suite("what an answer repeats");

const echoOf = (payload: Json, paths: readonly FieldPath[]): Echo => {
  const echo = echoOrNull(payload, paths);
  assert.ok(echo !== null);
  return echo;
};

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

test("a short value is recognised only where it stands apart, and an empty one never", () => {
  const { hides } = echoOf({ a: "1", b: "", c: true, d: null, cvc: 123 }, [["a"], ["b"], ["c"], ["d"], ["cvc"]]);
  for (const text of ["1", "cvc=123", "The code 123, is wrong.", "code%20123"]) assert.ok(hides(text), text);
  for (const text of ["12", "", "true", "null", "1234", "1.5"]) assert.not.ok(hides(text), text);
});

test("a value is recognised when it is grouped, encoded or inside JSON in a text", () => {
  const hidden = { card: "4242424242424242", name: 'Ada "L" Lovelace', city: "Zürich" };
  const { hides } = echoOf(hidden, [["card"], ["name"], ["city"]]);
  const base64 = Buffer.from('{"n":"4242424242424242"}').toString("base64url");
  for (const text of [
    ...["4242 4242 4242 4242", "4242-4242-4242-4242 was declined", "４２４２ ４２４２ ４２４２ ４２４２"],
    ...["100% sure, for Ada%20%22L%22%20Lovelace", "4242%25204242%25204242%25204242"],
    ...[JSON.stringify(hidden), JSON.stringify(JSON.stringify(hidden)), "Z\\u00fcrich"],
    ...[`Bearer x.${base64}.y`, `raw ${Buffer.from("4242424242424242").toString("hex")}`],
  ])
    assert.ok(hides(text), text);
  for (const text of ["4242 4242", "Ada", "Zug", `x.${Buffer.from('{"n":"41"}').toString("base64url")}.y`])
    assert.not.ok(hides(text), text);
});

test("a value is recognised with any usual escapes, and without its accents", () => {
  const hidden = { name: "Zoë Ångström", firm: 'Straße & "Söhne"', card: "4242424242424242" };
  const { hides } = echoOf(hidden, [["name"], ["firm"], ["card"]]);
  const bytes = (text: string, form: (byte: string) => string, encoding: "utf8" | "latin1" = "utf8"): string =>
    [...Buffer.from(text, encoding)].map((byte) => form(byte.toString(16).padStart(2, "0"))).join("");
  const base64 = (text: string): string => Buffer.from(text).toString("base64");
  for (const text of Object.values(hidden)) {
    for (const form of [
      bytes(text, (byte) => `%${byte}`),
      ...(text === hidden.card ? [] : [bytes(text, (byte) => `%${byte}`, "latin1")]),
      encodeURIComponent(encodeURIComponent(encodeURIComponent(text))),
      bytes(text, (byte) => `=${byte.toUpperCase()}`),
      bytes(text, (byte) => `\\x${byte}`),
      bytes(text, (byte) => `\\${Number.parseInt(byte, 16).toString(8).padStart(3, "0")}`),
      bytes(text, (byte) => `${byte}:`),
      `1${bytes(text, (byte) => byte)}`,
      [...text].map((it) => `&#${it.codePointAt(0)};`).join(""),
      [...text].map((it) => `&#x${it.codePointAt(0)?.toString(16)};`).join(""),
      ...[base64(base64(text)), `in/${base64(text)}`, `a/in/${base64(`abc${text}`)}`],
      base64(`some words before it: ${text}`).replace(/.{20}/g, "$&\n"),
      Buffer.from(text).toString("latin1"),
      text.normalize("NFD"),
      text.toUpperCase(),
    ])
      assert.ok(hides(form), form);
  }
  for (const text of ["ZOE ANGSTROM", "STRASSE &amp; &quot;Sohne&quot;", "a value with a lost \ufffd"])
    assert.ok(hides(text), text);
  for (const text of ["Zoe & Co", "&#x110000;", "\\x4", "%", base64("nothing of all that"), "Straße"])
    assert.not.ok(hides(text), text);
});

test("a number is recognised in cents, with separators, and with other decimal places", () => {
  const { hides } = echoOf({ amount: 1234.5, pin: "4711", few: 12 }, [["amount"], ["pin"], ["few"]]);
  for (const text of ["1,234.50 EUR", "1.234,5", "1 234.50", "123450", "4,711.00", "paid 471100 on 2026-11-23", "12"])
    assert.ok(hides(text), text);
  for (const text of ["1234", "12346", "471", "4712000", "1200", "12.5"]) assert.not.ok(hides(text), text);
});

test("a member's name that is no word of a format is a hidden value itself", () => {
  const { hides } = echoOf({ people: { "ada@example.com": { tier: 1 } } }, [["people"]]);
  assert.ok(hides("for ada@example.com"));
  assert.not.ok(hides("tier"));
});

test("texts that follow each other repeat a value together", () => {
  const { hidesRun } = echoOf({ card: "4242424242424242", pin: "4711" }, [["card"], ["pin"]]);
  assert.ok(hidesRun(["x", "4242", "4242", "4242-4242"]));
  assert.not.ok(hidesRun(["4242", "4242", "x", "4242", "4242", "47", "11"]));
});

test("no text takes longer to search than its length lets expect", () => {
  const { hides } = echoOf(PAYLOAD, PATHS);
  for (const repeated of ["\\", "%", "=", "&#", "0", "a", "ab ", "1 ", "\\u", "%25"])
    assert.type(hides(repeated.repeat(65_536 / repeated.length)), "boolean");
});

test("an echo of an inexact number, or of too many values, cannot be recognised", () => {
  for (const number of [JSON.parse("12345678901234567890"), JSON.parse("0.1234567890123456789"), 1e21])
    assert.is(echoOrNull({ n: number }, [["n"]]), null, String(number));
  for (const number of [4242424242424242, 12.5, -0.1]) assert.ok(echoOrNull({ n: number }, [["n"]]), String(number));
  const list = Array.from({ length: 101 }, (_, index) => `value ${index}`);
  assert.is(echoOrNull({ list }, [["list"]]), null);
  assert.ok(echoOrNull({ list: list.slice(1) }, [["list"]]));
});

test("a member with the name of a hidden field is recognised, whatever its value", () => {
  const { hidesName } = echoOf(PAYLOAD, [...PATHS, ["list", "0"], []]);
  for (const name of ["card", "Card", "c_a_r_d", "IBAN", "iban", "list"]) assert.ok(hidesName(name), name);
  for (const name of ["0", "cards", ""]) assert.not.ok(hidesName(name), name);
});

test("a path that leads nowhere recognises nothing but its name", () => {
  const { hides, hidesName } = echoOf({ __proto__: null, a: 1 }, [["b", "c"], ["a", "d"], ["constructor"]]);
  assert.not.ok(hides("1") || hides("function"));
  assert.ok(hidesName("c") && hidesName("constructor"));
});

test("after more values than are compared, no further one is looked at", () => {
  let looked = 0;
  const values = Array.from({ length: 10_000 }, (_, index) => `value ${index}`);
  const counted = new Proxy(values, {
    get: (target, name, receiver) => {
      if (/^\d+$/.test(String(name))) looked += 1;
      return Reflect.get(target, name, receiver);
    },
  });
  assert.is(echoOrNull({ cards: counted }, [["cards"]]), null);
  assert.is(looked, 101);
});

test.run();
