import { joined, sameBytes } from "./bytes.ts";

export type Sha256 = (bytes: Uint8Array) => Uint8Array;

export const HASH_BYTES = 32;

/** The prefixes distinguish the leaves of a tree from its inner nodes (RFC 6962, section 2.1). */
const LEAF_PREFIX = Uint8Array.of(0);
const NODE_PREFIX = 1;

/** The perfect subtree over the leaves from `index * 2 ** level` to the next subtree of its level; a leaf has level 0. */
export type Subtree = { readonly level: number; readonly index: number };

/** The leaves from `from` (inclusive) to `to` (exclusive). */
export type Span = { readonly from: number; readonly to: number };

/**
 * All that a tree needs to grow: its size, and the roots of the perfect subtrees into which its leaves fall, the
 * largest first. There is one for each bit of the size that is 1.
 */
export type Frontier = { readonly size: number; readonly roots: readonly Uint8Array[] };

/**
 * One hash of a path. At the right edge of a tree it covers a subtree that is not perfect: its hash is folded from those
 * of the perfect subtrees from left to right.
 */
export type PathPart = readonly Subtree[];

export const leafHash = (sha256: Sha256, leaf: Uint8Array): Uint8Array => sha256(joined(LEAF_PREFIX, leaf));

/** For who has the leaf in a buffer of their own: the byte that stands before it in what is hashed. */
export const LEAF_PREFIX_BYTE = 0;

/** `leafHash` of a leaf that is UTF-8, without a copy of its bytes. */
export const textLeafHash = (sha256OfText: (text: string) => Uint8Array, leaf: string): Uint8Array =>
  sha256OfText(String.fromCharCode(LEAF_PREFIX_BYTE) + leaf);

/** Two hashes behind the byte that says what they are. It is filled anew for each pair, as a copy costs as much as the hash. */
const pair = new Uint8Array(1 + 2 * HASH_BYTES);

/** The hash of a prefix and two hashes. `sha256` reads its argument before it returns, and does not keep it. */
export const pairHash = (sha256: Sha256, prefix: number, left: Uint8Array, right: Uint8Array): Uint8Array => {
  if (left.length !== HASH_BYTES || right.length !== HASH_BYTES)
    return sha256(joined(Uint8Array.of(prefix), left, right));
  pair[0] = prefix;
  pair.set(left, 1);
  pair.set(right, 1 + HASH_BYTES);
  return sha256(pair);
};

export const nodeHash = (sha256: Sha256, left: Uint8Array, right: Uint8Array): Uint8Array =>
  pairHash(sha256, NODE_PREFIX, left, right);

export const EMPTY_FRONTIER: Frontier = { size: 0, roots: [] };

/** Takes the subtrees that an append completes, the smallest first. */
export type OnComplete = (subtree: Subtree, hash: Uint8Array) => void;

export const append = (
  sha256: Sha256,
  { size, roots }: Frontier,
  hash: Uint8Array,
  onComplete?: OnComplete,
): Frontier => {
  const left = [...roots];
  let merged = hash;
  let index = size;
  onComplete?.({ level: 0, index }, merged);
  for (let level = 1; index % 2 === 1; level += 1) {
    const sibling = left.pop();
    if (sibling === undefined) throw new Error(`a frontier of size ${size} has only ${roots.length} roots`);
    merged = nodeHash(sha256, sibling, merged);
    index = Math.floor(index / 2);
    onComplete?.({ level, index }, merged);
  }
  return { size: size + 1, roots: [...left, merged] };
};

/** The hash of subtrees that follow each other, each smaller than the one before; that of no leaves is SHA-256(). */
const fold = (sha256: Sha256, roots: readonly Uint8Array[]): Uint8Array =>
  roots.length === 0 ? sha256(new Uint8Array()) : roots.reduceRight((right, left) => nodeHash(sha256, left, right));

export const rootOf = (sha256: Sha256, { roots }: Frontier): Uint8Array => fold(sha256, roots);

/** The largest power of two below the size, at which RFC 6962 splits a tree. The size is at least 2. */
export const splitOf = (size: number): number => {
  let split = 1;
  while (split * 2 < size) split *= 2;
  return split;
};

/** The perfect subtrees of a node of the tree: `from` is a multiple of a power of two that is at least the span's length. */
export const perfectSubtrees = ({ from, to }: Span): PathPart => {
  const parts: Subtree[] = [];
  let at = from;
  while (at < to) {
    let level = 0;
    while (at + 2 ** (level + 1) <= to) level += 1;
    parts.push({ level, index: at / 2 ** level });
    at += 2 ** level;
  }
  return parts;
};

/** The subtrees whose hashes are the frontier of a tree of this size. */
export const frontierSubtrees = (size: number): readonly Subtree[] => perfectSubtrees({ from: 0, to: size });

/** The path of a leaf in a tree of this size, from the leaf's sibling to a child of the root (RFC 6962, section 2.1.1). */
export const inclusionPath = (index: number, size: number): readonly PathPart[] => {
  const path: PathPart[] = [];
  let span = { from: 0, to: size };
  while (span.to - span.from > 1) {
    const middle = span.from + splitOf(span.to - span.from);
    const [left, right] = [
      { from: span.from, to: middle },
      { from: middle, to: span.to },
    ];
    path.unshift(perfectSubtrees(index < middle ? right : left));
    span = index < middle ? left : right;
  }
  return path;
};

/** The path between two sizes of a tree (RFC 6962, section 2.1.2); empty for equal sizes, and from the empty tree. */
export const consistencyPath = (from: number, to: number): readonly PathPart[] => {
  if (from === 0 || from === to) return [];
  const path: PathPart[] = [];
  let span = { from: 0, to };
  // As long as the old tree is a prefix of the span, its root is known to whoever verifies.
  let isOld = true;
  while (span.to !== from) {
    const middle = span.from + splitOf(span.to - span.from);
    const [left, right] = [
      { from: span.from, to: middle },
      { from: middle, to: span.to },
    ];
    path.unshift(perfectSubtrees(from <= middle ? right : left));
    if (from > middle) isOld = false;
    span = from <= middle ? left : right;
  }
  return isOld ? path : [perfectSubtrees(span), ...path];
};

/** The hashes of a path, from those of its perfect subtrees. */
export const pathHashes = (
  sha256: Sha256,
  path: readonly PathPart[],
  hashOf: (subtree: Subtree) => Uint8Array,
): readonly Uint8Array[] => path.map((part) => fold(sha256, part.map(hashOf)));

/** Bytes of another length could be divided in two ways between the two halves of a node. */
export const areHashes = (...hashes: readonly Uint8Array[]): boolean =>
  hashes.every(({ length }) => length === HASH_BYTES);

export type Inclusion = {
  readonly index: number;
  readonly size: number;
  readonly leafHash: Uint8Array;
  readonly path: readonly Uint8Array[];
};

/** The root to which the path leads (RFC 9162, section 2.1.3.2); null if it cannot be a path of this leaf. */
export const rootFromInclusion = (sha256: Sha256, { index, size, leafHash, path }: Inclusion): Uint8Array | null => {
  if (!Number.isSafeInteger(index) || !Number.isSafeInteger(size) || index < 0 || index >= size) return null;
  if (!areHashes(leafHash, ...path)) return null;
  let [node, last, hash] = [index, size - 1, leafHash];
  for (const sibling of path) {
    if (last === 0) return null;
    if (node % 2 === 1 || node === last) {
      hash = nodeHash(sha256, sibling, hash);
      while (node % 2 === 0 && node !== 0) [node, last] = [node / 2, Math.floor(last / 2)];
    } else hash = nodeHash(sha256, hash, sibling);
    [node, last] = [Math.floor(node / 2), Math.floor(last / 2)];
  }
  return last === 0 ? hash : null;
};

/** The hashes of a path that are left of its leaf: the frontier of the tree that ended before the leaf. */
export const frontierBefore = ({ index, size, path }: Omit<Inclusion, "leafHash">): Frontier => {
  const roots: Uint8Array[] = [];
  let [node, last] = [index, size - 1];
  for (const sibling of path) {
    if (node % 2 === 1 || node === last) {
      roots.unshift(sibling);
      while (node % 2 === 0 && node !== 0) [node, last] = [node / 2, Math.floor(last / 2)];
    }
    [node, last] = [Math.floor(node / 2), Math.floor(last / 2)];
  }
  return { size: index, roots };
};

export const verifyInclusion = (sha256: Sha256, inclusion: Inclusion, root: Uint8Array): boolean => {
  const found = rootFromInclusion(sha256, inclusion);
  return found !== null && sameBytes(found, root);
};

export type TreeHead = { readonly size: number; readonly root: Uint8Array };

/** RFC 9162, section 2.1.4.2. A tree is consistent with itself and with the empty tree, and then the path is empty. */
export const verifyConsistency = (
  sha256: Sha256,
  from: TreeHead,
  to: TreeHead,
  path: readonly Uint8Array[],
): boolean => {
  if (!Number.isSafeInteger(from.size) || !Number.isSafeInteger(to.size) || from.size > to.size) return false;
  if (from.size === 0 && !sameBytes(from.root, fold(sha256, []))) return false;
  if (from.size === to.size) return path.length === 0 && sameBytes(from.root, to.root);
  if (!areHashes(from.root, to.root, ...path)) return false;
  if (from.size === 0) return path.length === 0;
  const isPower = splitOf(from.size + 1) === from.size;
  const [first, ...rest] = isPower ? [from.root, ...path] : path;
  if (first === undefined) return false;
  let [node, last] = [from.size - 1, to.size - 1];
  while (node % 2 === 1) [node, last] = [Math.floor(node / 2), Math.floor(last / 2)];
  let [older, newer] = [first, first];
  for (const hash of rest) {
    if (last === 0) return false;
    if (node % 2 === 1 || node === last) {
      [older, newer] = [nodeHash(sha256, hash, older), nodeHash(sha256, hash, newer)];
      while (node % 2 === 0 && node !== 0) [node, last] = [node / 2, Math.floor(last / 2)];
    } else newer = nodeHash(sha256, newer, hash);
    [node, last] = [Math.floor(node / 2), Math.floor(last / 2)];
  }
  return last === 0 && sameBytes(older, from.root) && sameBytes(newer, to.root);
};
