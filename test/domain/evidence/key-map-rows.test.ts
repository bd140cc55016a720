import { createHash } from "node:crypto";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { type KeyEntry, nodeOf, rootFromKeyProof, sortedEntries } from "../../../domain/evidence/key-map.ts";
import { KeyMapTrie, type MapRow } from "../../../domain/evidence/key-map-rows.ts";

const test = suite("the key map in rows");

const sha256 = (bytes: Uint8Array): Uint8Array => createHash("sha256").update(bytes).digest();
const hex = (bytes: Uint8Array | null): string | null => (bytes === null ? null : Buffer.from(bytes).toString("hex"));
const rootOfAll = (entries: readonly KeyEntry[]): string | null => hex(nodeOf(sha256, sortedEntries(entries)).hash);

const rowsInMemory = () => {
  const rows = new Map<number, MapRow>();
  let puts = 0;
  return {
    get: (row: number) => rows.get(row) ?? null,
    put(row: number, content: MapRow) {
      puts += 1;
      rows.set(row, { ...content, bytes: content.bytes.slice() });
    },
    puts: () => puts,
  };
};

const entryOf = (key: string, number: number): KeyEntry => ({
  keyHash: sha256(Buffer.from(key)),
  number,
  last: number * 7,
});

test("the trie in rows has the root that its definition gives, whatever is set in whichever order", () => {
  const trie = new KeyMapTrie(sha256, rowsInMemory());
  const all = new Map<string, KeyEntry>();
  let seed = 1;
  for (const batch of [0, 1, 1, 30, 1, 40, 300, 2000, 1, 700]) {
    const changes = new Map<string, KeyEntry>();
    for (let i = 0; i < batch; i += 1) {
      seed = (seed * 48_271) % 2_147_483_647;
      const key = `key ${seed % 4_000}`;
      changes.set(key, entryOf(key, seed % 1_000_003));
    }
    for (const [key, entry] of changes) all.set(key, entry);
    const root = trie.set([...changes.values()]);
    assert.equal(hex(root), rootOfAll([...all.values()]));
  }
});

test("keys whose hashes share a long prefix are told apart by their last bit", () => {
  const hashes = Array.from({ length: 70 }, (_, i) => Uint8Array.from([...new Uint8Array(31).fill(0xab), i]));
  const entries = hashes.map((keyHash, i) => ({ keyHash, number: i + 1, last: i }));
  const trie = new KeyMapTrie(sha256, rowsInMemory());
  const root = trie.set(entries);
  assert.equal(hex(root), rootOfAll(entries));
  for (const { keyHash, number, last } of entries) {
    const proof = trie.prove(keyHash);
    assert.equal(proof.end, { kind: "present", number, last });
    assert.equal(hex(rootFromKeyProof(sha256, keyHash, proof)), hex(root));
  }
});

test("a path proves each key with its number, and that a key is absent", () => {
  for (const count of [0, 1, 2, 33, 40, 3_000]) {
    const trie = new KeyMapTrie(sha256, rowsInMemory());
    const entries = Array.from({ length: count }, (_, i) => entryOf(`key ${i}`, i + 1));
    const root = hex(trie.set(entries));
    for (const { keyHash, number, last } of entries.slice(0, 200)) {
      const proof = trie.prove(keyHash);
      assert.equal(proof.end, { kind: "present", number, last });
      assert.equal(hex(rootFromKeyProof(sha256, keyHash, proof)), root);
    }
    for (let i = 0; i < 200; i += 1) {
      const absent = sha256(Buffer.from(`absent ${i}`));
      const proof = trie.prove(absent);
      assert.equal(proof.end.kind, "absent");
      assert.equal(hex(rootFromKeyProof(sha256, absent, proof)), root);
    }
  }
});

test("a new key among many writes one bucket and the tiles above it", () => {
  const rows = rowsInMemory();
  const trie = new KeyMapTrie(sha256, rows);
  trie.set(Array.from({ length: 20_000 }, (_, i) => entryOf(`key ${i}`, 1)));
  const before = rows.puts();
  trie.set([entryOf("one more", 1)]);
  assert.ok(rows.puts() - before <= 5, `${rows.puts() - before} rows`);
});

test.run();
