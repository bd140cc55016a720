import { createHmac, hkdfSync } from "node:crypto";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { isSameHash, keyedHash } from "../../../infra/crypto/keyed-hash.ts";

const test = suite("keyed hash");
const KEY = new Uint8Array(32).fill(7);

test("the hash is HMAC-SHA-256 under a key of the purpose, over each part after its length", () => {
  const key = new Uint8Array(hkdfSync("sha256", KEY, new Uint8Array(0), "countersign/sessions", 32));
  const bytes = Buffer.from("\0\0\0\x02ab\0\0\0\x01c", "latin1");
  assert.is(keyedHash(KEY, "sessions")("ab", "c"), createHmac("sha256", key).update(bytes).digest("hex"));
});

test("another key, another purpose, and other parts of the same letters give another hash", () => {
  const hash = keyedHash(KEY, "sessions")("ab", "c");
  const others = [
    keyedHash(new Uint8Array(32).fill(8), "sessions")("ab", "c"),
    keyedHash(KEY, "api-keys")("ab", "c"),
    keyedHash(KEY, "sessions")("a", "bc"),
    keyedHash(KEY, "sessions")("abc"),
  ];
  for (const other of others) assert.not(isSameHash(hash, other));
  assert.ok(isSameHash(hash, keyedHash(KEY, "sessions")("ab", "c")));
  assert.not(isSameHash(hash, hash.slice(0, -1)));
});

test.run();
