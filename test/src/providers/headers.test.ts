import fc from "fast-check";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { decodeBase64, decodeCanonicalBase64, decodeHex, isTimestamp } from "../../../src/providers/decode.ts";
import { headerValues, parsePairs, parseVersioned, singleHeader } from "../../../src/providers/headers.ts";

const test = suite("signature headers");

/** Text that is likely to look like a header of one of the schemes, and arbitrary text. */
const anyText = fc.oneof(
  fc.string({ unit: "binary", maxLength: 200 }),
  fc.string({ unit: fc.constantFrom("t", "v", "1", "=", ",", ";", " ", "a"), maxLength: 60 }),
);

test("no text makes a parser or a decoder throw", () => {
  fc.assert(
    fc.property(anyText, (text) => {
      parsePairs(text, ",");
      parsePairs(text, ";");
      parseVersioned(text);
      decodeHex(text, 32);
      decodeBase64(text, 32);
      decodeCanonicalBase64(text);
      isTimestamp(text);
    }),
  );
});

const word = (...without: string[]) =>
  fc
    .string({ unit: "grapheme-ascii", minLength: 1, maxLength: 20 })
    .filter((text) => !without.some((character) => text.includes(character)));

test("pairs that were written are read back exactly", () => {
  for (const separator of [",", ";"] as const) {
    const pairs = fc.array(fc.tuple(word(separator, "="), word(separator)), { minLength: 1, maxLength: 16 });
    fc.assert(
      fc.property(pairs, (given) => {
        const text = given.map(([key, value]) => `${key}=${value}`).join(separator);
        assert.equal(parsePairs(text, separator), given);
      }),
    );
    fc.assert(
      fc.property(anyText, (text) => {
        const read = parsePairs(text, separator);
        if (read !== null) assert.is(read.map(([key, value]) => `${key}=${value}`).join(separator), text);
      }),
    );
  }
});

test("versioned signatures that were written are read again", () => {
  const pairs = fc.array(fc.tuple(word(" ", ","), word(" ")), { minLength: 1, maxLength: 16 });
  fc.assert(
    fc.property(pairs, (given) => {
      assert.equal(parseVersioned(given.map(([version, mac]) => `${version},${mac}`).join(" ")), given);
    }),
  );
});

test("an empty key, an empty value, a separator too many and a seventeenth pair are refused", () => {
  for (const text of ["", "=", "a", "a=", "=b", "a=b,", ",a=b", "a=b,,c=d", "a,b=c"]) {
    assert.is(parsePairs(text, ","), null, text);
  }
  assert.is(parsePairs(Array(17).fill("a=b").join(","), ","), null);
  assert.is(parsePairs(Array(16).fill("a=b").join(","), ",")?.length, 16);
});

test("hex and base64 have one spelling for each value", () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (bytes) => {
      const given = Buffer.from(bytes);
      assert.ok(decodeHex(given.toString("hex"), 32)?.equals(given));
      assert.ok(decodeBase64(given.toString("base64"), 32)?.equals(given));
    }),
  );
  fc.assert(
    fc.property(anyText, (text) => {
      const hex = decodeHex(text, 4);
      if (hex !== null) assert.is(hex.toString("hex"), text);
      const base64 = decodeCanonicalBase64(text);
      if (base64 !== null) assert.is(base64.toString("base64"), text);
    }),
  );
  assert.is(decodeHex("AABBCCDD", 4), null);
  assert.is(decodeHex("aabbccd", 4), null);
  assert.is(decodeHex("ａabbccd0", 4), null);
});

test("a timestamp is one to twelve digits", () => {
  fc.assert(fc.property(anyText, (text) => isTimestamp(text) === /^[0-9]{1,12}$/.test(text)));
  fc.assert(fc.property(fc.integer({ min: 0, max: 999_999_999_999 }), (seconds) => isTimestamp(String(seconds))));
});

test("a header is found whatever its case, once for each time that it was sent", () => {
  const sent = ["X-Sig", "a", "other", "b", "x-SIG", "c", "x-si", "d"];
  assert.equal(headerValues(sent, "x-sig"), ["a", "c"]);
  assert.equal(headerValues(sent, "absent"), []);
});

test("a single header is a value, missing or malformed", () => {
  const reason = (raw: readonly string[]): string => {
    const found = singleHeader(raw, "x-sig");
    return typeof found === "string" ? found : found.reason;
  };
  assert.is(reason(["X-Sig", "a"]), "a");
  assert.is(reason(["X-Sig", ""]), "missing");
  assert.is(reason([]), "missing");
  assert.is(reason(["X-Sig", "a", "X-Sig", "a"]), "malformed");
  assert.is(reason(["X-Sig", "", "X-Sig", "a"]), "malformed");
});

test.run();
