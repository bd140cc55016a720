import { EMPTY_NODE, entryHash, innerHash } from "../../domain/evidence/key-map.ts";
import { HASH_BYTES, type Sha256 } from "../../domain/evidence/merkle.ts";

/**
 * The key map of an account as it grows (`domain/evidence/key-map.ts` has its definition), in packed arrays: an export
 * may have a million keys. The map is sealed later than the records that it covers, so each key has two values: the
 * newest, by which the next record's links are checked, and that at the size which the map covers.
 */

/** A child is 0 for none, a positive number for an inner node, and a negative one for an entry; both count from 1. */
type Child = number;
type Folded = { readonly hash: Uint8Array; readonly keys: 0 | 1 | 2 };
const EMPTY: Folded = { hash: EMPTY_NODE.hash, keys: 0 };

const grown = <T extends Uint8Array | Uint32Array | Int32Array | Float64Array>(array: T, length: number): T => {
  if (array.length >= length) return array;
  const larger = new (array.constructor as new (length: number) => T)(Math.max(length, Math.ceil(array.length * 1.5)));
  larger.set(array as never); // Both are the same kind of array.
  return larger;
};

const FIRST_ENTRIES = 1_024;

export class KeyTree {
  readonly #sha256: Sha256;
  #entries = 0;
  #hashes = new Uint8Array(FIRST_ENTRIES * HASH_BYTES);
  #numbers = new Uint32Array(FIRST_ENTRIES);
  #lasts = new Float64Array(FIRST_ENTRIES);
  #coveredNumbers = new Uint32Array(FIRST_ENTRIES);
  #coveredLasts = new Float64Array(FIRST_ENTRIES);
  #inners = 0;
  #children = new Int32Array(2 * FIRST_ENTRIES);
  #innerHashes = new Uint8Array(FIRST_ENTRIES * HASH_BYTES);
  /** How many covered keys are under a node (2 for more), plus 4 if it has to be folded again. */
  #states = new Uint8Array(FIRST_ENTRIES);
  #root: Child = 0;

  constructor(sha256: Sha256) {
    this.#sha256 = sha256;
  }

  get size(): number {
    return this.#entries;
  }

  #bit(entry: number, bit: number): number {
    return ((this.#hashes[entry * HASH_BYTES + (bit >> 3)] ?? 0) >> (7 - (bit & 7))) & 1;
  }

  #isAt(entry: number, keyHash: Uint8Array): boolean {
    for (let i = 0; i < HASH_BYTES; i += 1) if (this.#hashes[entry * HASH_BYTES + i] !== keyHash[i]) return false;
    return true;
  }

  /** The number of the key's entry, which is added if it is new. */
  entryOf(keyHash: Uint8Array): number {
    const bitOf = (bit: number): number => ((keyHash[bit >> 3] ?? 0) >> (7 - (bit & 7))) & 1;
    let slot = -1;
    let child = this.#root;
    let bit = 0;
    for (; child > 0; bit += 1) {
      slot = 2 * (child - 1) + bitOf(bit);
      child = this.#children[slot] ?? 0;
    }
    if (child < 0 && this.#isAt(-child - 1, keyHash)) return -child - 1;
    const entry = this.#addEntry(keyHash);
    let subtree: Child = -entry - 1;
    if (child < 0) {
      let depth = bit;
      while (this.#bit(-child - 1, depth) === bitOf(depth)) depth += 1;
      // The two keys part at `depth`: above it are inner nodes with one child each.
      for (let at = depth; at >= bit; at -= 1) {
        const inner = this.#addInner();
        this.#children[2 * inner + bitOf(at)] = subtree;
        if (at === depth) this.#children[2 * inner + 1 - bitOf(at)] = child;
        subtree = inner + 1;
      }
    }
    if (slot === -1) this.#root = subtree;
    else this.#children[slot] = subtree;
    return entry;
  }

  #addEntry(keyHash: Uint8Array): number {
    const entry = this.#entries;
    this.#entries += 1;
    this.#hashes = grown(this.#hashes, this.#entries * HASH_BYTES);
    this.#numbers = grown(this.#numbers, this.#entries);
    this.#lasts = grown(this.#lasts, this.#entries);
    this.#coveredNumbers = grown(this.#coveredNumbers, this.#entries);
    this.#coveredLasts = grown(this.#coveredLasts, this.#entries);
    this.#hashes.set(keyHash, entry * HASH_BYTES);
    return entry;
  }

  #addInner(): number {
    const inner = this.#inners;
    this.#inners += 1;
    this.#children = grown(this.#children, 2 * this.#inners);
    this.#innerHashes = grown(this.#innerHashes, this.#inners * HASH_BYTES);
    this.#states = grown(this.#states, this.#inners);
    this.#states[inner] = 4;
    return inner;
  }

  numberOf(entry: number): number {
    return this.#numbers[entry] ?? 0;
  }

  lastOf(entry: number): number | null {
    return this.numberOf(entry) === 0 ? null : (this.#lasts[entry] ?? null);
  }

  /** A record at this index has the key. */
  count(entry: number, number: number, index: number): void {
    this.#numbers[entry] = number;
    this.#lasts[entry] = index;
  }

  /** The covered map has this record, too. */
  cover(entry: number, index: number): void {
    this.#coveredNumbers[entry] = (this.#coveredNumbers[entry] ?? 0) + 1;
    this.#coveredLasts[entry] = index;
    let child = this.#root;
    for (let bit = 0; child > 0; bit += 1) {
      this.#states[child - 1] = (this.#states[child - 1] ?? 0) | 4;
      child = this.#children[2 * (child - 1) + this.#bit(entry, bit)] ?? 0;
    }
  }

  #entryHash(entry: number): Uint8Array {
    const keyHash = this.#hashes.subarray(entry * HASH_BYTES, (entry + 1) * HASH_BYTES);
    const [number, last] = [this.#coveredNumbers[entry] ?? 0, this.#coveredLasts[entry] ?? 0];
    return entryHash(this.#sha256, { keyHash, number, last });
  }

  #fold(child: Child): Folded {
    if (child === 0) return EMPTY;
    if (child < 0)
      return this.#coveredNumbers[-child - 1] === 0 ? EMPTY : { hash: this.#entryHash(-child - 1), keys: 1 };
    const inner = child - 1;
    const state = this.#states[inner] ?? 0;
    const place = inner * HASH_BYTES;
    if (state < 4)
      return { hash: this.#innerHashes.subarray(place, place + HASH_BYTES), keys: state as Folded["keys"] }; // As it was stored.
    const folded = this.#joined(
      this.#fold(this.#children[2 * inner] ?? 0),
      this.#fold(this.#children[2 * inner + 1] ?? 0),
    );
    this.#innerHashes.set(folded.hash, place);
    this.#states[inner] = folded.keys;
    return folded;
  }

  #joined(left: Folded, right: Folded): Folded {
    if (left.keys === 0 && right.keys < 2) return right;
    if (right.keys === 0 && left.keys < 2) return left;
    return { hash: innerHash(this.#sha256, left.hash, right.hash), keys: 2 };
  }

  /** The root of the covered map. */
  rootHash(): Uint8Array {
    return this.#fold(this.#root).hash;
  }
}
