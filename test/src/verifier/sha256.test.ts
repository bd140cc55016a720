import { createHash } from "node:crypto";
import fc from "fast-check";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { sha256 } from "../../../src/verifier/sha256.ts";

const test = suite("SHA-256 for browsers");

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

test("the examples of FIPS 180-4 come out", () => {
  const examples: readonly [string, string][] = [
    ["", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"],
    ["abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"],
    [
      "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
    ],
  ];
  for (const [text, digest] of examples) assert.is(hex(sha256(Buffer.from(text))), digest);
});

test("bytes of every length around a block, and of any view, have the digest that Node gives", () => {
  for (let length = 0; length < 200; length += 1) {
    const bytes = Uint8Array.from({ length: length + 7 }, (_, i) => (i * 31 + length) & 255).subarray(7);
    assert.is(hex(sha256(bytes)), createHash("sha256").update(bytes).digest("hex"), String(length));
  }
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 5_000 }), (bytes) => {
      assert.is(hex(sha256(bytes)), createHash("sha256").update(bytes).digest("hex"));
    }),
  );
});

test.run();
