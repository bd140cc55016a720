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

type Numbers = Uint8Array | Uint32Array | Int32Array | Float64Array;

const SEGMENT_BITS = 14;
const SEGMENT = 2 ** SEGMENT_BITS;

/**
 * Numbers in segments: to grow copies nothing, leaves no half of the room unused, and no smaller arrays behind, which a browser
 * collects late.
 */
class Column<T extends Numbers> {
  readonly #make: (length: number) => T;
  /** Numbers in each row. */
  readonly #width: number;
  readonly #segments: T[] = [];

  constructor(make: (length: number) => T, width = 1) {
    this.#make = make;
    this.#width = width;
  }

  /** Makes room for the row, which has zeros. Rows are added one after another. */
  add(row: number): void {
    if (row >> SEGMENT_BITS === this.#segments.length) this.#segments.push(this.#make(SEGMENT * this.#width));
  }

  get(row: number, place = 0): number {
    return this.#segments[row >> SEGMENT_BITS]?.[(row & (SEGMENT - 1)) * this.#width + place] ?? 0;
  }

  set(row: number, value: number, place = 0): void {
    const segment = this.#segments[row >> SEGMENT_BITS];
    if (segment !== undefined) segment[(row & (SEGMENT - 1)) * this.#width + place] = value;
  }

  /** The segment that has the row, and where in it. */
  placeOf(row: number): readonly [T, number] {
    const segment = this.#segments[row >> SEGMENT_BITS];
    if (segment === undefined) throw new RangeError(`there is no row ${row}`);
    return [segment, (row & (SEGMENT - 1)) * this.#width];
  }
}

const hashColumn = () => new Column((length) => new Uint8Array(length), HASH_BYTES);
const countColumn = () => new Column((length) => new Uint32Array(length));
const indexColumn = () => new Column((length) => new Float64Array(length));

export class KeyTree {
  readonly #sha256: Sha256;
  #entries = 0;
  readonly #hashes = hashColumn();
  readonly #numbers = countColumn();
  readonly #lasts = indexColumn();
  readonly #coveredNumbers = countColumn();
  readonly #coveredLasts = indexColumn();
  #inners = 0;
  readonly #children = new Column((length) => new Int32Array(length), 2);
  readonly #innerHashes = hashColumn();
  /** How many covered keys are under a node (2 for more), plus 4 if it has to be folded again. */
  readonly #states = new Column((length) => new Uint8Array(length));
  #root: Child = 0;

  constructor(sha256: Sha256) {
    this.#sha256 = sha256;
  }

  get size(): number {
    return this.#entries;
  }

  #bit(entry: number, bit: number): number {
    return (this.#hashes.get(entry, bit >> 3) >> (7 - (bit & 7))) & 1;
  }

  #isAt(entry: number, keyHash: Uint8Array): boolean {
    for (let i = 0; i < HASH_BYTES; i += 1) if (this.#hashes.get(entry, i) !== keyHash[i]) return false;
    return true;
  }

  /** The number of the key's entry, which is added if it is new. */
  entryOf(keyHash: Uint8Array): number {
    const bitOf = (bit: number): number => ((keyHash[bit >> 3] ?? 0) >> (7 - (bit & 7))) & 1;
    let above: Child = 0;
    let child = this.#root;
    let bit = 0;
    for (; child > 0; bit += 1) {
      above = child;
      child = this.#children.get(child - 1, bitOf(bit));
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
        this.#children.set(inner, subtree, bitOf(at));
        if (at === depth) this.#children.set(inner, child, 1 - bitOf(at));
        subtree = inner + 1;
      }
    }
    if (above === 0) this.#root = subtree;
    else this.#children.set(above - 1, subtree, bitOf(bit - 1));
    return entry;
  }

  #addEntry(keyHash: Uint8Array): number {
    const entry = this.#entries;
    this.#entries += 1;
    for (const column of [this.#hashes, this.#numbers, this.#lasts, this.#coveredNumbers, this.#coveredLasts])
      column.add(entry);
    const [segment, at] = this.#hashes.placeOf(entry);
    segment.set(keyHash, at);
    return entry;
  }

  #addInner(): number {
    const inner = this.#inners;
    this.#inners += 1;
    for (const column of [this.#children, this.#innerHashes, this.#states]) column.add(inner);
    this.#states.set(inner, 4);
    return inner;
  }

  numberOf(entry: number): number {
    return this.#numbers.get(entry);
  }

  lastOf(entry: number): number | null {
    return this.numberOf(entry) === 0 ? null : this.#lasts.get(entry);
  }

  /** A record at this index has the key. */
  count(entry: number, number: number, index: number): void {
    this.#numbers.set(entry, number);
    this.#lasts.set(entry, index);
  }

  /** The covered map has this record, too. */
  cover(entry: number, index: number): void {
    this.#coveredNumbers.set(entry, this.#coveredNumbers.get(entry) + 1);
    this.#coveredLasts.set(entry, index);
    let child = this.#root;
    for (let bit = 0; child > 0; bit += 1) {
      this.#states.set(child - 1, this.#states.get(child - 1) | 4);
      child = this.#children.get(child - 1, this.#bit(entry, bit));
    }
  }

  #entryHash(entry: number): Uint8Array {
    const [segment, at] = this.#hashes.placeOf(entry);
    const keyHash = segment.subarray(at, at + HASH_BYTES);
    const [number, last] = [this.#coveredNumbers.get(entry), this.#coveredLasts.get(entry)];
    return entryHash(this.#sha256, { keyHash, number, last });
  }

  #fold(child: Child): Folded {
    if (child === 0) return EMPTY;
    if (child < 0)
      return this.#coveredNumbers.get(-child - 1) === 0 ? EMPTY : { hash: this.#entryHash(-child - 1), keys: 1 };
    const inner = child - 1;
    const state = this.#states.get(inner);
    const [segment, at] = this.#innerHashes.placeOf(inner);
    if (state < 4) return { hash: segment.subarray(at, at + HASH_BYTES), keys: state as Folded["keys"] }; // As it was stored.
    const folded = this.#joined(this.#fold(this.#children.get(inner, 0)), this.#fold(this.#children.get(inner, 1)));
    segment.set(folded.hash, at);
    this.#states.set(inner, folded.keys);
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
