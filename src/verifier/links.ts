import { toHex, utf8 } from "../../domain/evidence/bytes.ts";
import type { Leaf } from "../../domain/evidence/leaf.ts";
import type { Sha256 } from "../../domain/evidence/merkle.ts";
import { keysOf } from "../../domain/evidence/record-keys.ts";
import { KeyTree } from "./key-tree.ts";

/** Keys whose entry is known without a hash: those of agents, sources and actions come again and again. */
const KNOWN_MAX = 8_192;
/** Records' keys that the newest sealed map does not cover yet, and so by how many records a map may lag. */
const UNCOVERED_MAX = 1_000_000;

/** Null if a record's keys are exactly those that the rule gives. */
export const wrongKeys = (leaf: Leaf): string | null => {
  const right = keysOf(leaf);
  const found = Object.keys(leaf.keys);
  if (right.length === found.length && right.every((key, i) => key === found[i])) return null;
  const missing = right.find((key) => !Object.hasOwn(leaf.keys, key));
  const foreign = found.find((key) => !right.includes(key));
  if (missing !== undefined) return `the key ${missing} is missing`;
  return `the key ${foreign} is none of the record's`;
};

const linkText = (number: number, last: number | null): string => `[${number}, ${last}]`;

/** Recomputes the links and the sealed key maps from records that follow each other. */
export class Links {
  readonly #sha256: Sha256;
  readonly #tree: KeyTree;
  /** False for a range that begins later: the first link of a key is then not known, and no map either. */
  readonly #fromStart: boolean;
  readonly #known = new Map<string, number>();
  #queue = new Float64Array(2 * 1_024);
  #first = 0;
  #end = 0;
  #covered = 0;

  constructor(sha256: Sha256, fromStart: boolean) {
    this.#sha256 = sha256;
    this.#tree = new KeyTree(sha256);
    this.#fromStart = fromStart;
  }

  #entryOf(key: string): number {
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    if (this.#known.size >= KNOWN_MAX) this.#known.clear();
    const entry = this.#tree.entryOf(this.#sha256(utf8(key)));
    this.#known.set(key, entry);
    return entry;
  }

  /** Null if each link says what the records before it give. */
  wrongLink({ index, keys }: Leaf): string | null {
    for (const key of Object.keys(keys)) {
      const [number, last] = keys[key] ?? [0, null];
      const entry = this.#entryOf(key);
      const before = this.#tree.numberOf(entry);
      const isFirstKnown = !this.#fromStart && before === 0;
      if (isFirstKnown && last !== null && last >= index) return `the link of ${key} names a later record`;
      if (!isFirstKnown && (number !== before || last !== this.#tree.lastOf(entry)))
        return `the link of ${key} is ${linkText(number, last)}, but the records before it give ${linkText(before, this.#tree.lastOf(entry))}`;
      this.#tree.count(entry, number + 1, index);
      if (this.#fromStart) this.#push(entry, index);
    }
    return null;
  }

  #push(entry: number, index: number): void {
    if (this.#end - this.#first >= UNCOVERED_MAX) this.#coverOne();
    if (2 * this.#end === this.#queue.length) {
      const kept = this.#queue.subarray(2 * this.#first, 2 * this.#end);
      const larger = kept.length * 2 > this.#queue.length ? new Float64Array(this.#queue.length * 2) : this.#queue;
      larger.set(kept);
      [this.#queue, this.#end, this.#first] = [larger, this.#end - this.#first, 0];
    }
    this.#queue[2 * this.#end] = entry;
    this.#queue[2 * this.#end + 1] = index;
    this.#end += 1;
  }

  #coverOne(): void {
    const index = this.#queue[2 * this.#first + 1] ?? 0;
    this.#tree.cover(this.#queue[2 * this.#first] ?? 0, index);
    this.#first += 1;
    this.#covered = Math.max(this.#covered, index + 1);
  }

  /** Null if the sealed map is that of the first `size` records; "unknown" if it lags further than is remembered. */
  wrongMap({ index, data }: Leaf): string | null | "unknown" {
    const { root, size } = data;
    // Earlier builds sealed a map without a root where the records since the last one had no keys. It claims nothing.
    if (root === "") return null;
    if (typeof root !== "string" || typeof size !== "number" || !Number.isSafeInteger(size) || size < 0 || size > index)
      return "the sealed key map is malformed";
    if (!this.#fromStart) return null;
    if (size < this.#covered) return "unknown";
    while (this.#first < this.#end && (this.#queue[2 * this.#first + 1] ?? 0) < size) this.#coverOne();
    this.#covered = size;
    const right = toHex(this.#tree.rootHash());
    return right === root ? null : `the sealed key map is not that of the ${size} records that it covers`;
  }
}
