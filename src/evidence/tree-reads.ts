import {
  type Frontier,
  frontierSubtrees,
  HASH_BYTES,
  nodeHash,
  type PathPart,
  pathHashes,
  rootOf,
  type Subtree,
} from "../../domain/evidence/merkle.ts";
import type { EvidenceReads, TileName, TreeName } from "../../domain/ports/evidence-store.ts";
import { sha256 } from "../../infra/crypto/sha256.ts";
import { EvidenceDamaged } from "../../infra/evidence-errors.ts";

/** A tile has the hashes of 2 ** 8 subtrees (https://c2sp.org/tlog-tiles). */
export const TILE_LEVELS = 8;
export const TILE_HASHES = 2 ** TILE_LEVELS;

type Tiles = Pick<EvidenceReads, "tiles">;
type Place = { readonly tile: TileName; readonly from: number; readonly count: number };

/** Where the hashes are of which this subtree's is folded. */
const placeOf = (tree: TreeName, { level, index }: Subtree): Place => {
  const above = level % TILE_LEVELS;
  const first = index * 2 ** above;
  return {
    tile: { tree, level: (level - above) / TILE_LEVELS, number: Math.floor(first / TILE_HASHES) },
    from: first % TILE_HASHES,
    count: 2 ** above,
  };
};

const folded = (hashes: readonly Uint8Array[]): Uint8Array => {
  let row = hashes;
  while (row.length > 1)
    row = row.flatMap((left, i) => {
      const right = row[i + 1];
      return i % 2 === 0 && right !== undefined ? [nodeHash(sha256, left, right)] : [];
    });
  const [root] = row;
  if (root === undefined) throw new RangeError("a subtree has no hashes");
  return root;
};

/** The hashes of perfect subtrees, in their order; each tile is read once. */
export const subtreeHashes = async (
  store: Tiles,
  tree: TreeName,
  subtrees: readonly Subtree[],
): Promise<readonly Uint8Array[]> => {
  const places = subtrees.map((subtree) => placeOf(tree, subtree));
  const keyOf = ({ level, number }: TileName): string => `${level}/${number}`;
  const names = [...new Map(places.map(({ tile }) => [keyOf(tile), tile])).values()];
  const read = await store.tiles(names);
  const tiles = new Map(names.map((name, i) => [keyOf(name), read[i]]));
  return places.map(({ tile, from, count }) => {
    const hashes = tiles.get(keyOf(tile));
    if (hashes === undefined || hashes.length < (from + count) * HASH_BYTES)
      throw new EvidenceDamaged(`tile ${keyOf(tile)} of ${tree || "the instance"} is too short`);
    return folded(
      Array.from({ length: count }, (_, i) => hashes.subarray((from + i) * HASH_BYTES, (from + i + 1) * HASH_BYTES)),
    );
  });
};

export const leafHashAt = async (store: Tiles, tree: TreeName, index: number): Promise<Uint8Array> => {
  const [hash] = await subtreeHashes(store, tree, [{ level: 0, index }]);
  if (hash === undefined) throw new RangeError(`no leaf ${index}`);
  return hash;
};

/** The frontier that the tree had at this size, which is at most its present one. */
export const frontierAt = async (store: Tiles, tree: TreeName, size: number): Promise<Frontier> => ({
  size,
  roots: await subtreeHashes(store, tree, frontierSubtrees(size)),
});

export const rootAt = async (store: Tiles, tree: TreeName, size: number): Promise<Uint8Array> =>
  rootOf(sha256, await frontierAt(store, tree, size));

/** The hashes of a path of `inclusionPath` or `consistencyPath`. */
export const pathAt = async (
  store: Tiles,
  tree: TreeName,
  path: readonly PathPart[],
): Promise<readonly Uint8Array[]> => {
  const subtrees = path.flat();
  const hashes = await subtreeHashes(store, tree, subtrees);
  const found = new Map(subtrees.map((subtree, i) => [subtree, hashes[i]]));
  return pathHashes(sha256, path, (subtree) => {
    const hash = found.get(subtree);
    if (hash === undefined) throw new RangeError("a path has a subtree that nobody asked for");
    return hash;
  });
};
