import { sameBytes } from "../../domain/evidence/bytes.ts";
import {
  append,
  EMPTY_FRONTIER,
  type Frontier,
  frontierSubtrees,
  HASH_BYTES,
  type PathPart,
  rootOf,
} from "../../domain/evidence/merkle.ts";
import type { EvidenceReads, Tile, TileName, TreeName } from "../../domain/ports/evidence-store.ts";
import { sha256 } from "../../infra/crypto/sha256.ts";
import { EvidenceDamaged } from "../../infra/evidence-errors.ts";
import { frontierAt, pathAt, subtreeHashes, TILE_HASHES, TILE_LEVELS } from "./tree-reads.ts";

type Tiles = Pick<EvidenceReads, "tiles">;
type GrowingTile = { readonly number: number; readonly bytes: Uint8Array; hashes: number; isChanged: boolean };

const TILE_BYTES = TILE_HASHES * HASH_BYTES;

const contentOf = ({ bytes, hashes }: GrowingTile): Uint8Array => bytes.subarray(0, hashes * HASH_BYTES);

/** One tree while it is folded: what the store has of it, and what this page adds. */
export class GrowingTree {
  readonly #name: TreeName;
  #frontier: Frontier;
  /** The last tile of each level, which is not full; null until the tree is opened. */
  #last: Map<number, GrowingTile> | null;
  /** Tiles that this page has filled. */
  #full: Tile[] = [];

  private constructor(name: TreeName, frontier: Frontier) {
    this.#name = name;
    this.#frontier = frontier;
    this.#last = frontier.size === 0 ? new Map() : null;
  }

  /** Throws `EvidenceDamaged` if the tiles do not lead to the frontier. */
  static async load(store: Pick<EvidenceReads, "head" | "tiles">, name: TreeName): Promise<GrowingTree> {
    const head = await store.head(name);
    const { roots } = await frontierAt(store, name, head.size);
    if (roots.length !== head.roots.length || !roots.every((root, i) => sameBytes(root, head.roots[i] ?? root)))
      throw new EvidenceDamaged(`the tiles of ${name || "the instance"} are not those of its frontier`);
    return new GrowingTree(name, head);
  }

  static empty(name: TreeName): GrowingTree {
    return new GrowingTree(name, EMPTY_FRONTIER);
  }

  frontier(): Frontier {
    return this.#frontier;
  }

  /** Reads what an append changes; called once before the first. */
  async open(store: Tiles): Promise<void> {
    this.#last ??= await this.#loadLast(store);
  }

  append(leafHash: Uint8Array): void {
    const last = this.#last;
    if (last === null) throw new Error(`the tree ${this.#name || "of the instance"} is not open`);
    this.#frontier = append(sha256, this.#frontier, leafHash, ({ level, index }, hash) => {
      if (level % TILE_LEVELS === 0) this.#put(last, level / TILE_LEVELS, index, hash);
    });
  }

  /** The root that the tree had at this size; null if it is smaller. */
  async rootAt(store: Tiles, size: number): Promise<Uint8Array | null> {
    if (size > this.#frontier.size) return null;
    if (size === this.#frontier.size) return rootOf(sha256, this.#frontier);
    // Most subtrees are those of the present frontier, as little has been appended since.
    const present = new Map(
      frontierSubtrees(this.#frontier.size).map(({ level, index }, i) => [
        `${level}/${index}`,
        this.#frontier.roots[i],
      ]),
    );
    const subtrees = frontierSubtrees(size);
    const others = subtrees.filter(({ level, index }) => !present.has(`${level}/${index}`));
    const read = await subtreeHashes({ tiles: (names) => this.#tiles(store, names) }, this.#name, others);
    const roots = subtrees.flatMap((it) => present.get(`${it.level}/${it.index}`) ?? read[others.indexOf(it)] ?? []);
    return rootOf(sha256, { size, roots });
  }

  /** The hashes of a path that ends below this tree's size. */
  pathAt(store: Tiles, path: readonly PathPart[]): Promise<readonly Uint8Array[]> {
    return pathAt({ tiles: (names) => this.#tiles(store, names) }, this.#name, path);
  }

  /** The tiles that have changed since the last call. */
  takeTiles(): readonly Tile[] {
    const taken = this.#full;
    this.#full = [];
    for (const [level, tile] of this.#last ?? []) {
      if (!tile.isChanged) continue;
      tile.isChanged = false;
      taken.push({ tree: this.#name, level, number: tile.number, hashes: contentOf(tile).slice() });
    }
    return taken;
  }

  async #loadLast(store: Tiles): Promise<Map<number, GrowingTile>> {
    const names: TileName[] = [];
    for (let level = 0, count = this.#frontier.size; count > 0; level += 1, count = Math.floor(count / TILE_HASHES))
      if (count % TILE_HASHES > 0) names.push({ tree: this.#name, level, number: Math.floor(count / TILE_HASHES) });
    const last = new Map<number, GrowingTile>();
    for (const [i, hashes] of (await store.tiles(names)).entries()) {
      const name = names[i];
      if (name === undefined) continue;
      const tile = { number: name.number, bytes: new Uint8Array(TILE_BYTES), hashes: 0, isChanged: false };
      tile.bytes.set(hashes);
      tile.hashes = hashes.length / HASH_BYTES;
      last.set(name.level, tile);
    }
    return last;
  }

  #put(last: Map<number, GrowingTile>, level: number, index: number, hash: Uint8Array): void {
    const number = Math.floor(index / TILE_HASHES);
    const tile = last.get(level) ?? { number, bytes: new Uint8Array(TILE_BYTES), hashes: 0, isChanged: false };
    if (tile.number !== number || tile.hashes !== index % TILE_HASHES)
      throw new EvidenceDamaged(`the last tile of level ${level} of ${this.#name || "the instance"} has another size`);
    tile.bytes.set(hash, tile.hashes * HASH_BYTES);
    tile.hashes += 1;
    tile.isChanged = true;
    last.set(level, tile);
    if (tile.hashes < TILE_HASHES) return;
    last.delete(level);
    this.#full.push({ tree: this.#name, level, number, hashes: tile.bytes });
  }

  async #tiles(store: Tiles, names: readonly TileName[]): Promise<readonly Uint8Array[]> {
    const own = names.map(({ level, number }) => {
      const growing = this.#last?.get(level);
      if (growing?.number === number) return contentOf(growing);
      return this.#full.find((tile) => tile.level === level && tile.number === number)?.hashes ?? null;
    });
    const others = names.filter((_, i) => own[i] === null);
    const read = (await store.tiles(others)).values();
    return own.map((hashes) => hashes ?? read.next().value ?? new Uint8Array());
  }
}
