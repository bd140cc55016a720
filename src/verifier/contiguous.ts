import { sameBytes } from "../../domain/evidence/bytes.ts";
import type { Leaf } from "../../domain/evidence/leaf.ts";
import {
  append,
  EMPTY_FRONTIER,
  type Frontier,
  frontierBefore,
  rootOf,
  type TreeHead,
  verifyInclusion,
} from "../../domain/evidence/merkle.ts";
import { Links } from "./links.ts";
import type { Platform } from "./platform.ts";
import type { ReadRecord } from "./record-line.ts";
import { type Fault, fault } from "./report.ts";
import type { KnownHead } from "./trust.ts";

/** The records from `from` (inclusive) to `to` (exclusive) of a tree. */
export type Range = {
  readonly from: number;
  readonly to: number;
  readonly head: TreeHead;
  /** The paths of the first and the last record; null if the range is the whole tree. */
  readonly paths: { readonly first: readonly Uint8Array[]; readonly last: readonly Uint8Array[] } | null;
  /** Earlier trees that the records have to give, the smallest first. */
  readonly known: readonly KnownHead[];
};

export const isKeyMap = ({ stream, account, type }: Leaf): boolean =>
  stream === `keymap-${account}` && type === "KeyMapSealed";

/** Checks records that follow each other without a gap, one after another. */
export class Contiguous {
  readonly #platform: Platform;
  readonly #range: Range;
  readonly #links: Links;
  #frontier: Frontier;
  #checked = 0;
  /** The size of the largest known tree that the records gave. */
  #matched: number;
  #unknownMaps = 0;
  readonly #lost: string[] = [];

  constructor(platform: Platform, range: Range) {
    const { from, head, paths } = range;
    this.#platform = platform;
    this.#range = range;
    this.#links = new Links(platform.sha256, from === 0);
    this.#frontier =
      paths === null ? EMPTY_FRONTIER : frontierBefore({ index: from, size: head.size, path: paths.first });
    this.#matched = from;
  }

  get unknownMaps(): number {
    return this.#unknownMaps;
  }

  /** What trees from before the log was reopened had, and the records do not have. */
  get lost(): readonly string[] {
    return this.#lost;
  }

  take({ leaf, hash }: ReadRecord): Fault | null {
    const { index } = leaf;
    const { sha256 } = this.#platform;
    const { from, to, head, paths } = this.#range;
    const next = this.#frontier.size;
    if (index !== next)
      return fault(`it follows the record ${next - 1}: the record ${next} is not there`, Math.min(index, next));
    if (index >= to) return fault("it is beyond the records that the file says it has", index);
    const inclusion = { index, size: head.size, leafHash: hash };
    if (paths !== null && index === from && !verifyInclusion(sha256, { ...inclusion, path: paths.first }, head.root))
      return fault("its proof does not lead to the checkpoint", index);
    if (paths !== null && index === to - 1) {
      if (!verifyInclusion(sha256, { ...inclusion, path: paths.last }, head.root))
        return fault("its proof does not lead to the checkpoint", index);
      const before = frontierBefore({ index, size: head.size, path: paths.last });
      if (!before.roots.every((root, i) => sameBytes(root, this.#frontier.roots[i] ?? new Uint8Array())))
        return this.#changed(index, "the tree of the checkpoint");
    }
    const wrong = this.#links.wrongLink(leaf) ?? (isKeyMap(leaf) ? this.#wrongMap(leaf) : null);
    if (wrong !== null) return fault(wrong, index);
    this.#frontier = append(sha256, this.#frontier, hash);
    return this.#checkKnown();
  }

  #wrongMap(leaf: Leaf): string | null {
    const wrong = this.#links.wrongMap(leaf);
    if (wrong !== "unknown") return wrong;
    this.#unknownMaps += 1;
    return null;
  }

  #changed(to: number, what: string): Fault {
    const from = this.#matched;
    return to - from === 1
      ? fault(`it was changed: the records up to it do not give ${what}`, from)
      : fault(`at least one of the records ${from} to ${to - 1} was changed: they do not give ${what}`);
  }

  #checkKnown(): Fault | null {
    const { known } = this.#range;
    const { size } = this.#frontier;
    for (let it = known[this.#checked]; it !== undefined && it.size <= size; it = known[this.#checked]) {
      this.#checked += 1;
      if (it.size < size) continue;
      const isSame = sameBytes(rootOf(this.#platform.sha256, this.#frontier), it.root);
      if (!isSame && it.isBefore !== true) return this.#changed(size, it.what);
      if (isSame) this.#matched = size;
      else
        this.#lost.push(
          `the records as the previous checkpoint has them, of which at least one of ${size} is gone or was changed: ${it.what}`,
        );
    }
    return null;
  }

  ended(): Fault | null {
    const { to, head, paths } = this.#range;
    const { size } = this.#frontier;
    if (size < to) return fault("it is not there, but the file says that it has it", size);
    if (paths !== null || sameBytes(rootOf(this.#platform.sha256, this.#frontier), head.root)) return null;
    return size === 0
      ? fault("the checkpoint is not that of an empty tree")
      : this.#changed(size, "the tree of the checkpoint");
  }
}
