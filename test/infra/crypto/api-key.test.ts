import * as fc from "fast-check";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { bearerKey, isBearerKey, keyId } from "../../../infra/crypto/api-key.ts";

const secrets = fc.uint8Array({ minLength: 32, maxLength: 32 });
const test = suite("api keys");

test("a key is a prefix, 30 characters and their checksum", () =>
  fc.assert(
    fc.property(secrets, (secret) => {
      const key = bearerKey("csk", secret);
      assert.match(key, /^csk_[0-9A-Za-z]{36}$/);
      assert.ok(isBearerKey("csk", key));
      assert.not.ok(isBearerKey("csa", key));
    }),
  ));
test("a key equals one that was computed by other means", () =>
  // Python: zlib.crc32 of the first 34 characters, both in base 62 with the digits before A-Z before a-z.
  assert.is(bearerKey("csk", new Uint8Array(32).fill(7)), "csk_9KSulA8Ghct30vZz4HpdQ5c5b9cPF12bDCI3"));
test("any single wrong character and any swap of neighbours is noticed before a look-up", () =>
  fc.assert(
    fc.property(secrets, fc.nat(39), fc.constantFrom(..."09AZaz_-"), (secret, at, character) => {
      const key = bearerKey("csk", secret);
      const typo = key.slice(0, at) + character + key.slice(at + 1);
      assert.is(isBearerKey("csk", typo), typo === key);
      const swapped =
        key.slice(0, at) +
        key
          .slice(at, at + 2)
          .split("")
          .reverse()
          .join("") +
        key.slice(at + 2);
      assert.is(isBearerKey("csk", swapped), swapped === key);
    }),
  ));
test("a text that is not a key is refused", () => {
  const key = bearerKey("csa", new Uint8Array(32));
  for (const text of ["", "csk_", "csk", key, `${key}\n`, ` ${key}`, key.slice(0, -1), `${key}0`, "x".repeat(1e6)])
    assert.not.ok(isBearerKey("csk", text));
});
test("too little randomness makes no key", () => assert.throws(() => bearerKey("csk", new Uint8Array(31)), /32 bytes/));
test("the id follows from the key and does not reveal it", () => {
  const key = bearerKey("csk", new Uint8Array(32));
  assert.is(keyId(key), keyId(key));
  assert.match(keyId(key), /^key_[a-z2-7]{32}$/);
});
test.run();
