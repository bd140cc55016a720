import { compareBytes, joined, sameBytes, uint64, utf8 } from "./bytes.ts";
import { areHashes, HASH_BYTES, pairHash, type Sha256 } from "./merkle.ts";

/** The map has, for each key, the number of its records and the index of the last one. */
export type KeyEntry = { readonly keyHash: Uint8Array; readonly number: number; readonly last: number };

/** The root of a subtree of the trie. `only` is the entry if the subtree has exactly one, else null. */
export type TrieNode = {
  readonly hash: Uint8Array;
  readonly isEmpty: boolean;
  readonly only: KeyEntry | null;
};

/** The keys whose hash begins with the first `bits` bits of `keyHash`. */
export type Prefix = { readonly bits: number; readonly keyHash: Uint8Array };

const ENTRY_PREFIX = Uint8Array.of(2);
const NODE_PREFIX = 3;

export const EMPTY_NODE: TrieNode = { hash: new Uint8Array(HASH_BYTES), isEmpty: true, only: null };

export const keyHashOf = (sha256: Sha256, key: string): Uint8Array => sha256(utf8(key));

export const entryHash = (sha256: Sha256, { keyHash, number, last }: KeyEntry): Uint8Array =>
  sha256(joined(ENTRY_PREFIX, keyHash, uint64(number), uint64(last)));

export const innerHash = (sha256: Sha256, left: Uint8Array, right: Uint8Array): Uint8Array =>
  pairHash(sha256, NODE_PREFIX, left, right);

export const entryNode = (sha256: Sha256, entry: KeyEntry): TrieNode => ({
  hash: entryHash(sha256, entry),
  isEmpty: false,
  only: entry,
});

/** A subtree with a single key has the same hash at every depth, so it moves up as it is. */
export const parentNode = (sha256: Sha256, left: TrieNode, right: TrieNode): TrieNode => {
  if (left.isEmpty) return right.isEmpty || right.only !== null ? right : inner(sha256, left, right);
  if (right.isEmpty && left.only !== null) return left;
  return inner(sha256, left, right);
};

const inner = (sha256: Sha256, left: TrieNode, right: TrieNode): TrieNode => ({
  hash: innerHash(sha256, left.hash, right.hash),
  isEmpty: false,
  only: null,
});

const bitAt = (bytes: Uint8Array, bit: number): number => ((bytes[bit >> 3] ?? 0) >> (7 - (bit & 7))) & 1;

/** Sorted entries by their place, so that a million of them need no objects. `entries` has no two of the same key. */
export type SortedEntries = { readonly length: number; readonly at: (place: number) => KeyEntry };

export const sortedEntries = (entries: readonly KeyEntry[]): SortedEntries => {
  const sorted = [...entries].sort((a, b) => compareBytes(a.keyHash, b.keyHash));
  return {
    length: sorted.length,
    at: (place) => {
      const entry = sorted[place];
      if (entry === undefined) throw new RangeError(`no entry at ${place}`);
      return entry;
    },
  };
};

type Places = { readonly from: number; readonly to: number };

/** The first place whose entry has a 1 at this bit; all of the places share the bits before it. */
const splitAt = (entries: SortedEntries, { from, to }: Places, bit: number): number => {
  let [low, high] = [from, to];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (bitAt(entries.at(middle).keyHash, bit) === 1) high = middle;
    else low = middle + 1;
  }
  return low;
};

const nodeOfPlaces = (sha256: Sha256, entries: SortedEntries, places: Places, bit: number): TrieNode => {
  const { from, to } = places;
  if (from === to) return EMPTY_NODE;
  if (to - from === 1) return entryNode(sha256, entries.at(from));
  const middle = splitAt(entries, places, bit);
  return parentNode(
    sha256,
    nodeOfPlaces(sha256, entries, { from, to: middle }, bit + 1),
    nodeOfPlaces(sha256, entries, { from: middle, to }, bit + 1),
  );
};

/** The root of the subtree of entries that share their first `bits` bits. */
export const nodeOf = (sha256: Sha256, entries: SortedEntries, bits = 0): TrieNode =>
  nodeOfPlaces(sha256, entries, { from: 0, to: entries.length }, bits);

/** Where a key's path ends: at the key itself, at no key, or at the only other key that begins with the same bits. */
type PathEnd =
  | { readonly kind: "present"; readonly number: number; readonly last: number }
  | { readonly kind: "absent"; readonly other: KeyEntry | null };

/** `hashes` are those of the siblings, from the root downwards. */
export type MapProof = { readonly hashes: readonly Uint8Array[]; readonly end: PathEnd };

const otherBranch = ({ bits, keyHash }: Prefix): Prefix => {
  const changed = Uint8Array.from(keyHash);
  const bit = bits - 1;
  changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (0x80 >> (bit & 7));
  return { bits, keyHash: changed };
};

/** `nodeAt` gives the root of any subtree: from memory, or from a store in buckets of keys with the same first bits. */
export const proveKey = (keyHash: Uint8Array, nodeAt: (prefix: Prefix) => TrieNode): MapProof => {
  const hashes: Uint8Array[] = [];
  for (let bits = 0; ; bits += 1) {
    const { isEmpty, only } = nodeAt({ bits, keyHash });
    if (isEmpty) return { hashes, end: { kind: "absent", other: null } };
    if (only !== null) {
      const { number, last } = only;
      const isSame = sameBytes(only.keyHash, keyHash);
      return { hashes, end: isSame ? { kind: "present", number, last } : { kind: "absent", other: only } };
    }
    hashes.push(nodeAt(otherBranch({ bits: bits + 1, keyHash })).hash);
  }
};

const HASH_BITS = HASH_BYTES * 8;

const sharesBits = (a: Uint8Array, b: Uint8Array, bits: number): boolean => {
  for (let bit = 0; bit < bits; bit += 1) if (bitAt(a, bit) !== bitAt(b, bit)) return false;
  return true;
};

/** The root to which the proof leads; null if it cannot be a proof about this key. */
export const rootFromKeyProof = (sha256: Sha256, keyHash: Uint8Array, { hashes, end }: MapProof): Uint8Array | null => {
  if (hashes.length > HASH_BITS || !areHashes(...hashes)) return null;
  let hash = EMPTY_NODE.hash;
  if (end.kind === "present") hash = entryHash(sha256, { keyHash, number: end.number, last: end.last });
  else if (end.other !== null) {
    const { other } = end;
    if (sameBytes(other.keyHash, keyHash) || !sharesBits(other.keyHash, keyHash, hashes.length)) return null;
    hash = entryHash(sha256, other);
  }
  for (let bit = hashes.length - 1; bit >= 0; bit -= 1) {
    const sibling = hashes[bit];
    if (sibling === undefined) return null;
    hash = bitAt(keyHash, bit) === 0 ? innerHash(sha256, hash, sibling) : innerHash(sha256, sibling, hash);
  }
  return hash;
};

/** A source for `proveKey` over entries in memory. */
export const nodesInMemory = (sha256: Sha256, entries: SortedEntries): ((prefix: Prefix) => TrieNode) => {
  return ({ bits, keyHash }) => {
    let places: Places = { from: 0, to: entries.length };
    for (let bit = 0; bit < bits && places.from < places.to; bit += 1) {
      const middle = splitAt(entries, places, bit);
      places = bitAt(keyHash, bit) === 0 ? { from: places.from, to: middle } : { from: middle, to: places.to };
    }
    return nodeOfPlaces(sha256, entries, places, bits);
  };
};
