import { suite } from "uvu";
import * as assert from "uvu/assert";
import { canonicalJson } from "../../../domain/evidence/canonical-json.ts";
import type { Json } from "../../../domain/json.ts";

const test = suite("canonical JSON");

test("the example of RFC 8785, section 3.2.2 and 3.2.3, comes out byte for byte", () => {
  const input = String.raw`{
    "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
    "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
    "literals": [null, true, false]
  }`;
  const expected = String.raw`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`;
  assert.is(canonicalJson(JSON.parse(input) as Json), expected);
});

test("names are sorted by UTF-16 code units, as in RFC 8785, section 3.2.3", () => {
  const input = String.raw`{"\u20ac":"Euro Sign","\r":"Carriage Return","\ufb33":"Hebrew Letter Dalet With Dagesh",
    "1":"One","\ud83d\ude00":"Emoji: Grinning Face","\u0080":"Control","\u00f6":"Latin Small Letter O With Diaeresis"}`;
  const values = [...canonicalJson(JSON.parse(input) as Json).matchAll(/:"([^"]+)"/g)].map(([, value]) => value);
  assert.equal(values, [
    "Carriage Return",
    "One",
    "Control",
    "Latin Small Letter O With Diaeresis",
    "Euro Sign",
    "Emoji: Grinning Face",
    "Hebrew Letter Dalet With Dagesh",
  ]);
});

test("numbers are written as in the samples of RFC 8785, appendix B", () => {
  const samples: [string, string][] = [
    ["0000000000000000", "0"],
    ["8000000000000000", "0"],
    ["0000000000000001", "5e-324"],
    ["7fefffffffffffff", "1.7976931348623157e+308"],
    ["4340000000000000", "9007199254740992"],
    ["44b52d02c7e14af5", "9.999999999999997e+22"],
    ["44b52d02c7e14af6", "1e+23"],
    ["3eb0c6f7a0b5ed8d", "0.000001"],
    ["41b3de4355555555", "333333333.3333333"],
    ["becbf647612f3696", "-0.0000033333333333333333"],
  ];
  for (const [bits, text] of samples) assert.is(canonicalJson(Buffer.from(bits, "hex").readDoubleBE()), text);
});

test("a member called __proto__ and an empty object are kept", () => {
  assert.is(canonicalJson(JSON.parse('{"b":{},"__proto__":{"a":[]}}') as Json), '{"__proto__":{"a":[]},"b":{}}');
});

test("names that are whole numbers are sorted as texts, at any depth and beside others", () => {
  const nested = JSON.parse('{"b":[{"10":1,"9":2,"a":3}],"a":{"2":{"x":1,"":0},"-1":true,"__proto__":null}}') as Json;
  assert.is(canonicalJson(nested), '{"a":{"-1":true,"2":{"":0,"x":1},"__proto__":null},"b":[{"10":1,"9":2,"a":3}]}');
});

test.run();
