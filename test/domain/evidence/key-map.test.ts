import { createHash } from "node:crypto";
import fc from "fast-check";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { joined, uint64 } from "../../../domain/evidence/bytes.ts";
import {
  EMPTY_NODE,
  entryNode,
  type KeyEntry,
  keyHashOf,
  nodeOf,
  nodesInMemory,
  parentNode,
  proveKey,
  rootFromKeyProof,
  sortedEntries,
} from "../../../domain/evidence/key-map.ts";
import type { Sha256 } from "../../../domain/evidence/merkle.ts";

const test = suite("key map");

const sha256: Sha256 = (bytes) => new Uint8Array(createHash("sha256").update(bytes).digest());
const entryOf = (key: string, number = 1, last = 0): KeyEntry => ({ keyHash: keyHashOf(sha256, key), number, last });

/** The definition in words, over texts of bits. */
const definedHash = (entries: readonly KeyEntry[], depth = 0): Uint8Array => {
  const [first] = entries;
  if (first === undefined) return new Uint8Array(32);
  if (entries.length === 1)
    return sha256(joined(Uint8Array.of(2), first.keyHash, uint64(first.number), uint64(first.last)));
  const bitOf = ({ keyHash }: KeyEntry) => ((keyHash[depth >> 3] ?? 0) >> (7 - (depth % 8))) % 2;
  const [left, right] = [0, 1].map((bit) =>
    definedHash(
      entries.filter((it) => bitOf(it) === bit),
      depth + 1,
    ),
  );
  return sha256(joined(Uint8Array.of(3), left ?? new Uint8Array(), right ?? new Uint8Array()));
};

const keySets = fc.uniqueArray(fc.string(), { minLength: 0, maxLength: 60 });

test("the root is that of the definition, however the entries are ordered or kept in buckets", () => {
  fc.assert(
    fc.property(keySets, (keys) => {
      const entries = keys.map((key, i) => entryOf(key, i + 1, i * 7));
      const sorted = sortedEntries(entries);
      assert.equal(Buffer.from(nodeOf(sha256, sorted).hash), Buffer.from(definedHash(entries)));
      const half = (bit: number) =>
        nodeOf(sha256, sortedEntries(entries.filter(({ keyHash }) => (keyHash[0] ?? 0) >> 7 === bit)), 1);
      assert.equal(parentNode(sha256, half(0), half(1)).hash, nodeOf(sha256, sorted).hash);
    }),
  );
});

test("each key is proved with its number and last index, and a key that is not there is proved absent", () => {
  fc.assert(
    fc.property(keySets, fc.string(), (keys, stranger) => {
      const entries = keys.map((key, i) => entryOf(key, i + 1, i * 7));
      const sorted = sortedEntries(entries);
      const { hash } = nodeOf(sha256, sorted);
      const nodeAt = nodesInMemory(sha256, sorted);
      for (const [i, key] of [...keys, stranger].entries()) {
        const keyHash = keyHashOf(sha256, key);
        const proof = proveKey(keyHash, nodeAt);
        assert.equal(rootFromKeyProof(sha256, keyHash, proof), hash);
        assert.is(proof.end.kind, i < keys.length || keys.includes(stranger) ? "present" : "absent");
        if (proof.end.kind !== "present") continue;
        const end = { ...proof.end, number: proof.end.number + 1 };
        assert.not.equal(rootFromKeyProof(sha256, keyHash, { ...proof, end }), hash);
      }
    }),
  );
});

test("no proof says that a key is absent which the map has", () => {
  const entries = ["a", "b", "c", "d", "e"].map((key) => entryOf(key));
  const nodeAt = nodesInMemory(sha256, sortedEntries(entries));
  const root = nodeOf(sha256, sortedEntries(entries)).hash;
  for (const { keyHash } of entries) {
    const { hashes } = proveKey(keyHash, nodeAt);
    for (const other of [null, ...entries])
      for (let depth = 0; depth <= hashes.length; depth += 1) {
        const proof = { hashes: hashes.slice(0, depth), end: { kind: "absent", other } } as const;
        assert.not.equal(rootFromKeyProof(sha256, keyHash, proof), root);
      }
  }
});

test("a map of one key is its entry, and an empty one 32 zero bytes", () => {
  const only = entryOf("only", 3, 9);
  assert.equal(nodeOf(sha256, sortedEntries([only])).hash, entryNode(sha256, only).hash);
  assert.equal(nodeOf(sha256, sortedEntries([])), EMPTY_NODE);
  assert.equal(EMPTY_NODE.hash, new Uint8Array(32));
});

test.run();
