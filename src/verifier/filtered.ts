import { fromHex, sameBytes } from "../../domain/evidence/bytes.ts";
import type { MapLine } from "../../domain/evidence/export-lines.ts";
import { type KeyEntry, keyHashOf, rootFromKeyProof } from "../../domain/evidence/key-map.ts";
import type { Leaf } from "../../domain/evidence/leaf.ts";
import { HASH_BYTES, type TreeHead } from "../../domain/evidence/merkle.ts";
import { rootFromGaps } from "../../domain/evidence/multi-proof.ts";
import { isKeyMap } from "./contiguous.ts";
import type { Platform } from "./platform.ts";
import type { ReadRecord } from "./record-line.ts";
import { type Completeness, type Fault, fault } from "./report.ts";

export type FilteredInput = {
  readonly head: TreeHead;
  readonly gaps: readonly Uint8Array[];
  /** Null if the file does not claim to have all records of a key. */
  readonly map: MapLine | null;
};

const FIRST_LENGTH = 1_024;

/** Leaf hashes with their indexes, in packed arrays. */
class PackedLeaves {
  length = 0;
  #indexes = new Float64Array(FIRST_LENGTH);
  #hashes = new Uint8Array(FIRST_LENGTH * HASH_BYTES);

  add(index: number, hash: Uint8Array): void {
    if (this.length === this.#indexes.length) {
      const [indexes, hashes] = [this.#indexes, this.#hashes];
      this.#indexes = new Float64Array(2 * indexes.length);
      this.#indexes.set(indexes);
      this.#hashes = new Uint8Array(2 * hashes.length);
      this.#hashes.set(hashes);
    }
    this.#indexes[this.length] = index;
    this.#hashes.set(hash, this.length * HASH_BYTES);
    this.length += 1;
  }

  readonly indexAt = (place: number): number => this.#indexes[place] ?? Number.NaN;
  readonly hashAt = (place: number): Uint8Array => this.#hashes.subarray(place * HASH_BYTES, (place + 1) * HASH_BYTES);
}

type SealedMap = { readonly root: Uint8Array; readonly size: number };

/** Checks the records that a filter chose, and that none of a key is left out. */
export class Filtered {
  readonly #platform: Platform;
  readonly #input: FilteredInput;
  readonly #leaves = new PackedLeaves();
  #last: number | null = null;
  #number = 0;
  #missing: string | null = null;
  #map: SealedMap | null = null;
  /** The record that seals the map, until a later one comes. */
  #waiting: ReadRecord | null = null;
  /** Of the records that the map covers. */
  #covered = { number: 0, last: null as number | null };
  readonly #chain: { readonly index: number }[] = [];
  #hasSeal = false;
  #hasTail = false;

  constructor(platform: Platform, input: FilteredInput) {
    this.#platform = platform;
    this.#input = input;
  }

  take(read: ReadRecord): Fault | null {
    const { map } = this.#input;
    const sealed = map !== null && !Object.hasOwn(read.leaf.keys, map.key) && isKeyMap(read.leaf) ? read : null;
    if (this.#hasSeal || this.#hasTail) return this.#wrongBehind(read.leaf, sealed !== null);
    const wrong = this.#wrongPlace(read.leaf);
    if (wrong !== null) return wrong;
    if (sealed === null) this.#leaves.add(read.leaf.index, read.hash);
    else [this.#waiting, this.#hasSeal] = [sealed, true];
    return map === null ? null : this.#link(read.leaf, map.key);
  }

  /** The record that seals the map is the last one but those that the map does not cover: only it waits for its place. */
  #wrongBehind({ index }: Leaf, isSeal: boolean): Fault {
    if (this.#hasSeal && isSeal) return fault("it is a second record that seals a key map", index);
    return fault(
      "it stands behind the record that seals the key map, or behind those that the map does not cover",
      index,
    );
  }

  /** Whether the file has to show this record of its tail as it does any other: with its payloads. */
  readonly isOfKey = ({ keys }: Leaf): boolean => this.#input.map !== null && Object.hasOwn(keys, this.#input.map.key);

  /** A record that the key map does not cover. It may be before the record that seals the map. */
  takeTail(read: ReadRecord): Fault | null {
    const { leaf, hash } = read;
    const { map } = this.#input;
    if (map === null) return fault("it is beside a key map, and the file has none", leaf.index);
    if (this.#map !== null && leaf.index < this.#map.size)
      return fault("it stands with those that the key map does not cover", leaf.index);
    const wrong = this.#addWaiting(leaf.index) ?? this.#wrongPlace(leaf);
    if (wrong !== null) return wrong;
    this.#hasTail = true;
    this.#leaves.add(leaf.index, hash);
    return this.isOfKey(leaf) ? this.#link(leaf, map.key) : null;
  }

  /** Adds the record that seals the map, if this one comes after it. */
  #addWaiting(next: number): Fault | null {
    const waiting = this.#waiting;
    if (waiting === null || waiting.leaf.index >= next) return null;
    this.#waiting = null;
    const wrong = this.#wrongPlace(waiting.leaf);
    if (wrong === null) this.#leaves.add(waiting.leaf.index, waiting.hash);
    return wrong;
  }

  #wrongPlace({ index }: Leaf): Fault | null {
    if (this.#waiting?.leaf.index === index) return fault("it stands twice", index);
    if (this.#leaves.length > 0 && index <= this.#leaves.indexAt(this.#leaves.length - 1))
      return fault("it does not follow the record before it", index);
    return index >= this.#input.head.size ? fault("the checkpoint does not cover it", index) : null;
  }

  #link(leaf: Leaf, key: string): Fault | null {
    const link = Object.hasOwn(leaf.keys, key) ? leaf.keys[key] : undefined;
    const sealed = isKeyMap(leaf) ? this.#readMap(leaf) : null;
    if (link === undefined) {
      if (sealed === null) return fault(`it is no record of ${key}`, leaf.index);
      this.#map = sealed;
      return null;
    }
    const [number, last] = link;
    if (number === this.#number ? last !== this.#last : number < this.#number || last === this.#last)
      return fault(`its link of ${key} contradicts the records before it`, leaf.index);
    if (number > this.#number) this.#missing ??= `the record ${last} of ${key}, which the record ${leaf.index} names`;
    [this.#number, this.#last] = [number + 1, leaf.index];
    this.#chain.push({ index: leaf.index });
    return null;
  }

  #readMap({ index, data: { root: text, size } }: Leaf): SealedMap | null {
    const root = typeof text === "string" ? fromHex(text) : null;
    const isSize = typeof size === "number" && Number.isSafeInteger(size) && size >= 0 && size <= index;
    return root !== null && isSize ? { root, size } : null;
  }

  #checkTree(): Fault | null {
    const { head, gaps } = this.#input;
    const root = rootFromGaps(this.#platform.sha256, { size: head.size, leaves: this.#leaves, gaps });
    if (root !== null && sameBytes(root, head.root)) return null;
    return fault("the records and their proof do not give the tree of the checkpoint");
  }

  #checkMap(line: MapLine, { root, size }: SealedMap): Fault | null {
    const { sha256, fromBase64 } = this.#platform;
    const hashes: Uint8Array[] = [];
    for (const text of line.hashes) {
      const hash = fromBase64(text);
      if (hash === null) return fault("the proof of the key map is malformed");
      hashes.push(hash);
    }
    const { number, last } = line;
    const other = this.#otherOf(line);
    if (other === undefined || (number === 0) !== (last === null) || (number > 0 && other !== null))
      return fault("the proof of the key map is malformed");
    const end = last === null ? ({ kind: "absent", other } as const) : ({ kind: "present", number, last } as const);
    const found = rootFromKeyProof(sha256, keyHashOf(sha256, line.key), { hashes, end });
    if (found === null || !sameBytes(found, root))
      return fault(`the proof of ${line.key} does not lead to the sealed key map`);
    const covered = this.#below(size);
    this.#covered = { number: covered.length, last: covered.at(-1)?.index ?? null };
    return null;
  }

  readonly #below = (size: number) => this.#chain.filter(({ index }) => index < size);

  /** The file has all records from this size of a map to the size that is answered. */
  #shownFrom(size: number): number {
    let next = size;
    for (let place = 0; place < this.#leaves.length; place += 1) if (this.#leaves.indexAt(place) === next) next += 1;
    return next;
  }

  /** What the map says of the records below its size, and the records of the file of those that follow without a gap. */
  #complete(
    key: string,
    { size }: SealedMap,
  ): { readonly missing: readonly string[]; readonly complete: Completeness } {
    const { head } = this.#input;
    const shown = this.#shownFrom(size);
    const what = shown === head.size - 1 ? `the record ${shown}` : `the records ${shown} to ${head.size - 1}`;
    return {
      missing:
        shown === head.size
          ? []
          : [`${what}, or a newer key map: nothing proves that none of ${key} is left out above ${shown}`],
      complete: { key, number: this.#below(shown).length, size: shown },
    };
  }

  /** Undefined if the line has another entry that is malformed. */
  #otherOf({ other }: MapLine): KeyEntry | null | undefined {
    if (other === undefined) return null;
    const keyHash = fromHex(other.key_hash);
    return keyHash?.length === HASH_BYTES ? { keyHash, number: other.number, last: other.last } : undefined;
  }

  ended(): {
    readonly fault: Fault | null;
    readonly missing: readonly string[];
    readonly complete: Completeness | null;
  } {
    const wrong = this.#addWaiting(this.#input.head.size) ?? this.#checkTree();
    if (wrong !== null) return { fault: wrong, missing: [], complete: null };
    const { map } = this.#input;
    if (map === null) return { fault: null, missing: ["a proof that no record is left out"], complete: null };
    if (this.#map === null) return { fault: null, missing: ["the record that seals the key map"], complete: null };
    const unproved = this.#checkMap(map, this.#map);
    if (unproved !== null) return { fault: unproved, missing: [], complete: null };
    if (this.#missing !== null) return { fault: null, missing: [this.#missing], complete: null };
    const { number, last } = this.#covered;
    if (number < map.number)
      return {
        fault: null,
        missing: [`${map.number - number} records of ${map.key}, the last of them ${map.last}`],
        complete: null,
      };
    if (number !== map.number || last !== map.last)
      return {
        fault: fault(`the sealed key map has ${map.number} records of ${map.key}, the file ${number}`, last),
        missing: [],
        complete: null,
      };
    return { fault: null, ...this.#complete(map.key, this.#map) };
  }
}
