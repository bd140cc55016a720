import * as fc from "fast-check";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { randomness } from "../../../infra/crypto/randomness.ts";
import { secretBox } from "../../../infra/crypto/secret-box.ts";

const key = randomness.bytes(32);
const box = secretBox(key, randomness);
const at = { account: "acc_1", stream: "source-src_1", field: "secret" };
const broken = (error: Error) => error.name === "SealBroken";

const test = suite("secret box");

test("a sealed value opens only at its place", () =>
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), (plain) => {
      const sealed = box.seal(plain, at);
      assert.is(box.open(sealed, at), plain);
      for (const elsewhere of [{ account: "acc_2" }, { stream: "source-src_2" }, { field: "header" }])
        assert.throws(() => box.open(sealed, { ...at, ...elsewhere }), broken);
    }),
  ));
test("places that read the same when joined are different places", () => {
  const sealed = box.seal("x", { account: "a", stream: "bc", field: "d" });
  assert.throws(() => box.open(sealed, { account: "ab", stream: "c", field: "d" }), broken);
});
test("any changed bit is noticed", () => {
  const bytes = Buffer.from(box.seal("sk_live_1", at), "base64");
  for (let bit = 0; bit < bytes.length * 8; bit += 1) {
    const changed = Buffer.from(bytes);
    changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    assert.throws(() => box.open(changed.toString("base64"), at), broken);
  }
});
test("a shortened value is refused, also one with a short tag", () => {
  const bytes = Buffer.from(box.seal("", at), "base64");
  for (let length = 0; length < bytes.length; length += 1)
    assert.throws(() => box.open(bytes.subarray(0, length).toString("base64"), at), broken);
});
test("another spelling of the same bytes is refused", () => {
  const sealed = box.seal("x", at);
  for (const spelling of [` ${sealed}`, `${sealed}\n`, sealed.replace(/=*$/, ""), `${sealed}AAAA`, `${sealed}!`])
    if (spelling !== sealed) assert.throws(() => box.open(spelling, at), broken);
});
test("another key opens nothing, and a key of another length is no key", () => {
  const sealed = box.seal("x", at);
  assert.throws(() => secretBox(randomness.bytes(32), randomness).open(sealed, at), broken);
  assert.throws(() => secretBox(new Uint8Array(16), randomness), /16 bytes/);
});
test("the same secret never looks the same twice", () => assert.is.not(box.seal("x", at), box.seal("x", at)));

test.run();
