import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import {
  append,
  consistencyPath,
  EMPTY_FRONTIER,
  type Frontier,
  frontierSubtrees,
  HASH_BYTES,
  inclusionPath,
  leafHash,
  nodeHash,
  pathHashes,
  rootFromInclusion,
  rootOf,
  type Sha256,
  type Subtree,
  textLeafHash,
  verifyConsistency,
  verifyInclusion,
} from "../../../domain/evidence/merkle.ts";
import { gapsOf, rootFromGaps } from "../../../domain/evidence/multi-proof.ts";

const test = suite("merkle");

const sha256: Sha256 = (bytes) => new Uint8Array(createHash("sha256").update(bytes).digest());
const sha256OfText = (text: string): Uint8Array => sha256(Buffer.from(text));

test("a leaf of text has the hash of its bytes, and a node that of its two hashes, of whatever length they are", () => {
  for (const text of ["", "leaf", "\u0000é\u{1f600}"])
    assert.equal(textLeafHash(sha256OfText, text), leafHash(sha256, Buffer.from(text)));
  for (const [left, right] of [
    [32, 32],
    [31, 33],
    [0, 40],
  ]) {
    const [a, b] = [Buffer.alloc(left ?? 0, 7), Buffer.alloc(right ?? 0, 8)];
    assert.equal(nodeHash(sha256, a, b), sha256(Buffer.concat([Buffer.of(1), a, b])));
  }
});

const nameOf = ({ level, index }: Subtree): string => `${level}/${index}`;

/** The tree of each size up to the number of leaves, and the hash of each perfect subtree. */
const grown = (leaves: readonly Uint8Array[]) => {
  const hashes = new Map<string, Uint8Array>();
  const frontiers: Frontier[] = [EMPTY_FRONTIER];
  for (const leaf of leaves) {
    const last = frontiers.at(-1) ?? EMPTY_FRONTIER;
    frontiers.push(append(sha256, last, leafHash(sha256, leaf), (subtree, hash) => hashes.set(nameOf(subtree), hash)));
  }
  const hashOf = (subtree: Subtree): Uint8Array => {
    const hash = hashes.get(nameOf(subtree));
    if (hash === undefined) throw new Error(`${nameOf(subtree)} is no perfect subtree of the tree`);
    return hash;
  };
  const headOf = (size: number) => ({ size, root: rootOf(sha256, frontiers[size] ?? EMPTY_FRONTIER) });
  return { frontiers, hashOf, headOf };
};

const numbered = (count: number): readonly Uint8Array[] =>
  Array.from({ length: count }, (_, i) => Buffer.from(`leaf ${i}`));

/** The definition of RFC 6962, section 2.1, word by word. */
const definedRoot = (leaves: readonly Uint8Array[]): Uint8Array => {
  const [first] = leaves;
  if (first === undefined) return sha256(new Uint8Array());
  if (leaves.length === 1) return leafHash(sha256, first);
  const k = 2 ** Math.ceil(Math.log2(leaves.length) - 1);
  return nodeHash(sha256, definedRoot(leaves.slice(0, k)), definedRoot(leaves.slice(k)));
};

const hex = (text: string): Buffer => Buffer.from(text, "hex");

test("trees have the roots that implementations of RFC 6962 publish", () => {
  const leaves = ["", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f"];
  const roots = [
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
  ];
  const { headOf } = grown(leaves.map(hex));
  assert.equal(
    roots.map((_, size) => Buffer.from(headOf(size).root).toString("hex")),
    roots,
  );
});

test("the paths are those of the example in RFC 6962, section 2.1.3", () => {
  // The names of the RFC: a to g are leaf hashes, h to l the nodes above them.
  const names = new Map(
    Object.entries({ "0/0": "a", "0/1": "b", "0/2": "c", "0/3": "d", "0/4": "e", "0/5": "f", "0/6": "j" }).concat(
      Object.entries({ "1/0": "g", "1/1": "h", "1/2": "i", "2/0": "k" }),
    ),
  );
  const named = (path: readonly (readonly Subtree[])[]) =>
    path.map((part) => part.map((subtree) => names.get(nameOf(subtree))).join("+"));
  assert.equal(named(inclusionPath(0, 7)), ["b", "h", "i+j"]);
  assert.equal(named(inclusionPath(3, 7)), ["c", "g", "i+j"]);
  assert.equal(named(inclusionPath(4, 7)), ["f", "j", "k"]);
  assert.equal(named(inclusionPath(6, 7)), ["i", "k"]);
  assert.equal(named(consistencyPath(3, 7)), ["c", "d", "g", "i+j"]);
  assert.equal(named(consistencyPath(4, 7)), ["i+j"]);
  assert.equal(named(consistencyPath(6, 7)), ["i", "j", "k"]);
});

test("proofs are accepted and refused as transparency-dev/merkle has it", () => {
  type Case = { readonly file: string; readonly proof: readonly string[] | null; readonly wantErr: boolean };
  type Inclusion = Case & { leafIdx: number; treeSize: number; root: string; leafHash: string };
  type Consistency = Case & { size1: number; size2: number; root1: string; root2: string };
  // The file is a copy of published test data, whose members these types list.
  const vectors = JSON.parse(readFileSync("test/vectors/merkle/proofs.json", "utf8")) as {
    readonly inclusion: readonly Inclusion[];
    readonly consistency: readonly Consistency[];
  };
  const bytes = (text: string | null): Buffer => Buffer.from(text ?? "", "base64");
  for (const it of vectors.inclusion) {
    const path = (it.proof ?? []).map(bytes);
    const inclusion = { index: it.leafIdx, size: it.treeSize, leafHash: bytes(it.leafHash), path };
    assert.is(verifyInclusion(sha256, inclusion, bytes(it.root)), !it.wantErr, it.file);
  }
  for (const it of vectors.consistency) {
    const [from, to] = [
      { size: it.size1, root: bytes(it.root1) },
      { size: it.size2, root: bytes(it.root2) },
    ];
    assert.is(verifyConsistency(sha256, from, to, (it.proof ?? []).map(bytes)), !it.wantErr, it.file);
  }
  assert.ok(vectors.inclusion.length > 40 && vectors.consistency.length > 90);
});

const SMALL = 70;

test("in every small tree each leaf is proved at every size, and at no other index or size", () => {
  const { frontiers, hashOf, headOf } = grown(numbered(SMALL));
  for (let size = 1; size <= SMALL; size += 1) {
    assert.equal(frontiers[size]?.roots, frontierSubtrees(size).map(hashOf));
    assert.equal(Buffer.from(headOf(size).root), Buffer.from(definedRoot(numbered(size))));
    for (let index = 0; index < size; index += 1) {
      const path = pathHashes(sha256, inclusionPath(index, size), hashOf);
      const inclusion = { index, size, leafHash: hashOf({ level: 0, index }), path };
      assert.ok(verifyInclusion(sha256, inclusion, headOf(size).root));
      assert.equal(rootFromInclusion(sha256, inclusion), headOf(size).root);
      assert.not(verifyInclusion(sha256, { ...inclusion, index: (index + 1) % size }, headOf(size).root) && size > 1);
      assert.not(verifyInclusion(sha256, inclusion, headOf(size - 1).root));
    }
  }
});

test("every pair of small trees is consistent by its path alone", () => {
  const { hashOf, headOf } = grown(numbered(SMALL));
  for (let to = 0; to <= SMALL; to += 1)
    for (let from = 0; from <= to; from += 1) {
      const path = pathHashes(sha256, consistencyPath(from, to), hashOf);
      assert.ok(verifyConsistency(sha256, headOf(from), headOf(to), path), `${from} to ${to}`);
      const other = { size: from, root: sha256(Buffer.from("other")) };
      assert.not(verifyConsistency(sha256, other, headOf(to), path), `other root at ${from} to ${to}`);
      assert.not(verifyConsistency(sha256, headOf(from), headOf(to), [...path, other.root]));
      if (path.length > 0) assert.not(verifyConsistency(sha256, headOf(from), headOf(to), path.slice(1)));
    }
});

test("the sizes of proofs stay those of a tree where a size no longer fits 32 bits", () => {
  const size = 2 ** 52 + 1;
  assert.is(inclusionPath(0, size).length, 53);
  assert.equal(inclusionPath(size - 1, size), [[{ level: 52, index: 0 }]]);
  assert.equal(consistencyPath(2 ** 52, size), [[{ level: 0, index: 2 ** 52 }]]);
  const root = new Uint8Array(HASH_BYTES);
  assert.not(verifyConsistency(sha256, { size: size - 2, root }, { size, root }, []));
});

const someLeaves = (indexes: readonly number[], hashOf: (subtree: Subtree) => Uint8Array) => ({
  length: indexes.length,
  indexAt: (place: number) => indexes[place] ?? Number.NaN,
  hashAt: (place: number) => hashOf({ level: 0, index: indexes[place] ?? Number.NaN }),
});

const someOfTree = fc
  .integer({ min: 1, max: 200 })
  .chain((size) => fc.tuple(fc.constant(size), fc.uniqueArray(fc.nat(size - 1), { maxLength: 40 })));

test("any leaves of a tree and the gaps between them give its root, and no other leaves do", () => {
  const { hashOf, headOf } = grown(numbered(200));
  fc.assert(
    fc.property(someOfTree, ([size, chosen]) => {
      const indexes = [...chosen].sort((a, b) => a - b);
      const leaves = someLeaves(indexes, hashOf);
      const gaps = pathHashes(sha256, gapsOf(leaves, size), hashOf);
      assert.equal(rootFromGaps(sha256, { size, leaves, gaps }), headOf(size).root);
      const proof = { size, leaves, gaps };
      assert.is(rootFromGaps(sha256, { ...proof, gaps: [...gaps, headOf(1).root] }), null);
      if (gaps.length > 0) assert.is(rootFromGaps(sha256, { ...proof, gaps: gaps.slice(1) }), null);
      if (indexes.length === 0) return;
      const without = rootFromGaps(sha256, { ...proof, leaves: someLeaves(indexes.slice(1), hashOf) });
      assert.ok(without === null || !Buffer.from(without).equals(headOf(size).root));
    }),
  );
});

test.run();
