/**
 * The trie of the key map, kept in rows, so that a map of any size needs no memory and a change touches few of them. A
 * row is a bucket (some keys with one prefix) or a tile (the hashes of four levels of the trie). How the rows are cut
 * changes no hash.
 */

import { compareBytes, sameBytes } from "./bytes.ts";
import { EMPTY_NODE, entryHash, innerHash, type KeyEntry, type MapProof } from "./key-map.ts";
import { HASH_BYTES, type Sha256 } from "./merkle.ts";

export type MapRow = { readonly kind: "bucket" | "tile"; readonly bytes: Uint8Array };

/** Rows are numbered from 1, the root; the children of a row are numbered 16 times its number and following. */
export type MapRows = {
  get(row: number): MapRow | null;
  put(row: number, content: MapRow): void;
};

const NUMBER_BYTES = 8;
const ENTRY_BYTES = HASH_BYTES + 2 * NUMBER_BYTES;
/** A bucket with more keys becomes a tile. Hashing a bucket costs about twice its number of keys in hashes. */
const BUCKET_KEYS_MAX = 8;
const TILE_LEVELS = 4;
const FAN = 2 ** TILE_LEVELS;
/** Below this row level the numbers of rows would not be exact; nobody finds so many keys with 48 equal bits. */
const ROW_LEVEL_MAX = 12;

/** How many keys are below a node: none, one, or more (2). The hash of a single key does not depend on its depth. */
type Weight = 0 | 1 | 2;
type Node = { readonly weight: Weight; readonly hash: Uint8Array };
const NODE_BYTES = 1 + HASH_BYTES;
/** A tile has its nodes in the order of a heap: 1 is its root, and 16 to 31 are the roots of its children. */
const TILE_BYTES = 2 * FAN * NODE_BYTES;

const EMPTY: Node = { weight: 0, hash: EMPTY_NODE.hash };

const bitOf = (hash: Uint8Array, bit: number): number => ((hash[bit >> 3] ?? 0) >> (7 - (bit & 7))) & 1;

const nibbleOf = (hash: Uint8Array, level: number): number => {
  const byte = hash[level >> 1] ?? 0;
  return level % 2 === 0 ? byte >> 4 : byte & 15;
};

const keyHashAt = (entries: Uint8Array, at: number): Uint8Array =>
  entries.subarray(at * ENTRY_BYTES, at * ENTRY_BYTES + HASH_BYTES);

const viewOf = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.length);

const entryAt = (entries: Uint8Array, at: number): KeyEntry => {
  const view = viewOf(entries);
  const from = at * ENTRY_BYTES + HASH_BYTES;
  return {
    keyHash: keyHashAt(entries, at),
    number: Number(view.getBigUint64(from)),
    last: Number(view.getBigUint64(from + NUMBER_BYTES)),
  };
};

/** Both are in the order of the keys' hashes; of a key in both, the change counts. */
const merged = (entries: Uint8Array, changes: readonly KeyEntry[]): Uint8Array => {
  const all = new Uint8Array(entries.length + changes.length * ENTRY_BYTES);
  const view = viewOf(all);
  let read = 0;
  let write = 0;
  const copyUpTo = (end: number): void => {
    all.set(entries.subarray(read, end), write);
    write += end - read;
    read = end;
  };
  for (const { keyHash, number, last } of changes) {
    let end = read;
    while (end < entries.length && compareBytes(keyHashAt(entries, end / ENTRY_BYTES), keyHash) < 0) end += ENTRY_BYTES;
    copyUpTo(end);
    if (read < entries.length && compareBytes(keyHashAt(entries, read / ENTRY_BYTES), keyHash) === 0)
      read += ENTRY_BYTES;
    all.set(keyHash, write);
    view.setBigUint64(write + HASH_BYTES, BigInt(number));
    view.setBigUint64(write + HASH_BYTES + NUMBER_BYTES, BigInt(last));
    write += ENTRY_BYTES;
  }
  copyUpTo(entries.length);
  return all.subarray(0, write);
};

const nodeAt = (tile: Uint8Array, at: number): Node => ({
  weight: (tile[at * NODE_BYTES] ?? 0) as Weight, // Only `setNode` writes it.
  hash: tile.subarray(at * NODE_BYTES + 1, (at + 1) * NODE_BYTES),
});

const setNode = (tile: Uint8Array, at: number, { weight, hash }: Node): void => {
  tile[at * NODE_BYTES] = weight;
  tile.set(hash, at * NODE_BYTES + 1);
};

/** Where a child's keys begin among sorted ones; the end for the last child. */
const childrenOf = (count: number, nibbleAt: (at: number) => number): readonly number[] => {
  const begins: number[] = [];
  let at = 0;
  for (let child = 0; child <= FAN; child += 1) {
    while (at < count && nibbleAt(at) < child) at += 1;
    begins.push(at);
  }
  return begins;
};

/** `found` is the only key at the end of the path, null if there is none. */
const proofOf = (keyHash: Uint8Array, hashes: readonly Uint8Array[], found: KeyEntry | null): MapProof => {
  if (found === null || !sameBytes(found.keyHash, keyHash)) return { hashes, end: { kind: "absent", other: found } };
  const { number, last } = found;
  return { hashes, end: { kind: "present", number, last } };
};

export class KeyMapTrie {
  readonly #sha256: Sha256;
  readonly #rows: MapRows;

  constructor(sha256: Sha256, rows: MapRows) {
    this.#sha256 = sha256;
    this.#rows = rows;
  }

  /** Sets the entries, each key at most once, and returns the root. */
  set(entries: readonly KeyEntry[]): Uint8Array {
    return this.#update(
      1,
      0,
      [...entries].sort((a, b) => compareBytes(a.keyHash, b.keyHash)),
    ).hash;
  }

  prove(keyHash: Uint8Array): MapProof {
    const hashes: Uint8Array[] = [];
    let row = 1;
    for (let level = 0; ; level += 1) {
      const content = this.#rows.get(row);
      if (content === null) return proofOf(keyHash, hashes, null);
      if (content.kind === "bucket") return this.#proveInBucket(content.bytes, keyHash, level, hashes);
      let at = 1;
      for (let bit = level * TILE_LEVELS; at < FAN; bit += 1) {
        if (nodeAt(content.bytes, at).weight < 2) return proofOf(keyHash, hashes, this.#onlyBelow(row, content, at));
        const side = bitOf(keyHash, bit);
        hashes.push(nodeAt(content.bytes, 2 * at + 1 - side).hash);
        at = 2 * at + side;
      }
      row = row * FAN + at - FAN;
    }
  }

  #update(row: number, level: number, changes: readonly KeyEntry[]): Node {
    const content = this.#rows.get(row);
    if (content?.kind !== "tile") {
      const entries = merged(content?.bytes ?? new Uint8Array(0), changes);
      return this.#write(row, level, entries);
    }
    const tile = content.bytes.slice();
    const begins = childrenOf(changes.length, (at) => nibbleOf(changes[at]?.keyHash ?? EMPTY.hash, level));
    this.#updateChildren(tile, begins, (child, from, to) =>
      this.#update(row * FAN + child, level + 1, changes.slice(from, to)),
    );
    this.#rows.put(row, { kind: "tile", bytes: tile });
    return nodeAt(tile, 1);
  }

  #write(row: number, level: number, entries: Uint8Array): Node {
    const count = entries.length / ENTRY_BYTES;
    if (count <= BUCKET_KEYS_MAX || level === ROW_LEVEL_MAX) {
      this.#rows.put(row, { kind: "bucket", bytes: entries });
      return this.#bucketNode(entries, 0, count, level * TILE_LEVELS);
    }
    const tile = new Uint8Array(TILE_BYTES);
    const begins = childrenOf(count, (at) => nibbleOf(keyHashAt(entries, at), level));
    this.#updateChildren(tile, begins, (child, from, to) =>
      this.#write(row * FAN + child, level + 1, entries.subarray(from * ENTRY_BYTES, to * ENTRY_BYTES)),
    );
    this.#rows.put(row, { kind: "tile", bytes: tile });
    return nodeAt(tile, 1);
  }

  #updateChildren(
    tile: Uint8Array,
    begins: readonly number[],
    update: (child: number, from: number, to: number) => Node,
  ): void {
    const isChanged = new Array<boolean>(2 * FAN).fill(false);
    for (let child = 0; child < FAN; child += 1) {
      const [from = 0, to = 0] = begins.slice(child, child + 2);
      if (from === to) continue;
      setNode(tile, FAN + child, update(child, from, to));
      isChanged[FAN + child] = true;
    }
    for (let at = FAN - 1; at >= 1; at -= 1) {
      isChanged[at] = isChanged[2 * at] === true || isChanged[2 * at + 1] === true;
      if (isChanged[at]) setNode(tile, at, this.#parent(nodeAt(tile, 2 * at), nodeAt(tile, 2 * at + 1)));
    }
  }

  #parent(left: Node, right: Node): Node {
    if (left.weight === 0 && right.weight < 2) return right;
    if (right.weight === 0 && left.weight < 2) return left;
    return { weight: 2, hash: innerHash(this.#sha256, left.hash, right.hash) };
  }

  #bucketNode(entries: Uint8Array, from: number, to: number, bit: number): Node {
    if (from === to) return EMPTY;
    if (to - from === 1) return { weight: 1, hash: entryHash(this.#sha256, entryAt(entries, from)) };
    let middle = from;
    while (middle < to && bitOf(keyHashAt(entries, middle), bit) === 0) middle += 1;
    return this.#parent(
      this.#bucketNode(entries, from, middle, bit + 1),
      this.#bucketNode(entries, middle, to, bit + 1),
    );
  }

  #proveInBucket(entries: Uint8Array, keyHash: Uint8Array, level: number, hashes: Uint8Array[]): MapProof {
    let [from, to] = [0, entries.length / ENTRY_BYTES];
    for (let bit = level * TILE_LEVELS; to - from > 1; bit += 1) {
      let middle = from;
      while (middle < to && bitOf(keyHashAt(entries, middle), bit) === 0) middle += 1;
      const isRight = bitOf(keyHash, bit) === 1;
      const beside = isRight
        ? this.#bucketNode(entries, from, middle, bit + 1)
        : this.#bucketNode(entries, middle, to, bit + 1);
      hashes.push(beside.hash);
      if (isRight) from = middle;
      else to = middle;
    }
    return proofOf(keyHash, hashes, from === to ? null : entryAt(entries, from));
  }

  /** The single key below a node of a tile; null if there is none. A tile has more than one, so its child is a bucket. */
  #onlyBelow(row: number, { bytes }: MapRow, node: number): KeyEntry | null {
    if (nodeAt(bytes, node).weight === 0) return null;
    let at = node;
    while (at < FAN) at = nodeAt(bytes, 2 * at).weight > 0 ? 2 * at : 2 * at + 1;
    const bucket = this.#rows.get(row * FAN + at - FAN);
    return bucket === null ? null : entryAt(bucket.bytes, 0);
  }
}
