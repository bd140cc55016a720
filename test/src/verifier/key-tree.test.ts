import { suite } from "uvu";
import * as assert from "uvu/assert";
import { utf8 } from "../../../domain/evidence/bytes.ts";
import { type KeyEntry, keyHashOf, nodeOf, sortedEntries } from "../../../domain/evidence/key-map.ts";
import { sha256 } from "../../../infra/crypto/sha256.ts";
import { KeyTree } from "../../../src/verifier/key-tree.ts";

const test = suite("the key map of a growing account");

/** More than two segments of its columns. */
const KEYS = 40_000;

test("its root is that of the covered keys, whatever was added since, and every key is found again", () => {
  const tree = new KeyTree(sha256);
  const expected = new Map<number, KeyEntry>();
  const rootOf = (): Uint8Array => nodeOf(sha256, sortedEntries([...expected.values()])).hash;
  const cover = (n: number, number: number, last: number): void => {
    tree.cover(n, last);
    expected.set(n, { keyHash: keyHashOf(sha256, `key ${n}`), number, last });
  };
  for (let n = 0; n < KEYS; n += 1) {
    assert.is(tree.entryOf(sha256(utf8(`key ${n}`))), n);
    tree.count(n, 1, n);
    if (n < KEYS - 100) cover(n, 1, n);
    if (n === 16_383 || n === 16_384) assert.equal(tree.rootHash(), rootOf());
  }
  assert.equal(tree.rootHash(), rootOf());
  for (let n = 0; n < KEYS; n += 7) {
    assert.is(tree.entryOf(sha256(utf8(`key ${n}`))), n);
    assert.equal([tree.numberOf(n), tree.lastOf(n)], [1, n]);
    tree.count(n, 2, KEYS + n);
    if (n < KEYS - 100) cover(n, 2, KEYS + n);
  }
  assert.equal(tree.rootHash(), rootOf());
  assert.equal([tree.size, tree.numberOf(0), tree.lastOf(0)], [KEYS, 2, KEYS]);
});

test.run();
