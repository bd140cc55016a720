import { areHashes, nodeHash, type PathPart, perfectSubtrees, type Sha256, type Span, splitOf } from "./merkle.ts";

/** The indexes of some leaves of a tree, each higher than the one before. */
export type SomeLeaves = { readonly length: number; readonly indexAt: (place: number) => number };

/** The span, and the places in the list of those leaves that are in it: `first` is inclusive, `end` exclusive. */
type Node = Span & { readonly first: number; readonly end: number };

/** The first place, from `first` on, of a leaf at `index` or later. */
const placeOf = ({ indexAt }: SomeLeaves, { first, end }: Node, index: number): number => {
  let [low, high] = [first, end];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (indexAt(middle) >= index) high = middle;
    else low = middle + 1;
  }
  return low;
};

const halves = (leaves: SomeLeaves, node: Node): readonly [Node, Node] => {
  const middle = node.from + splitOf(node.to - node.from);
  const place = placeOf(leaves, node, middle);
  return [
    { from: node.from, to: middle, first: node.first, end: place },
    { from: middle, to: node.to, first: place, end: node.end },
  ];
};

const addGaps = (leaves: SomeLeaves, node: Node, gaps: PathPart[]): void => {
  if (node.first === node.end) gaps.push(perfectSubtrees(node));
  else if (node.to - node.from > 1) for (const half of halves(leaves, node)) addGaps(leaves, half, gaps);
};

/** The largest subtrees without any of the leaves, from left to right: with the leaves, they give the tree's root. */
export const gapsOf = (leaves: SomeLeaves, size: number): readonly PathPart[] => {
  const gaps: PathPart[] = [];
  if (size > 0) addGaps(leaves, { from: 0, to: size, first: 0, end: leaves.length }, gaps);
  return gaps;
};

export type MultiProof = {
  readonly size: number;
  readonly leaves: SomeLeaves & { readonly hashAt: (place: number) => Uint8Array };
  readonly gaps: readonly Uint8Array[];
};

/** The root to which leaves and gaps lead; null if there are too few or too many gaps, or a leaf is not in the tree. */
export const rootFromGaps = (sha256: Sha256, { size, leaves, gaps }: MultiProof): Uint8Array | null => {
  let used = 0;
  const rootOfNode = (node: Node): Uint8Array | null => {
    if (node.first === node.end) {
      used += 1;
      return gaps[used - 1] ?? null;
    }
    if (node.to - node.from === 1)
      return node.end - node.first === 1 && leaves.indexAt(node.first) === node.from ? leaves.hashAt(node.first) : null;
    const [left, right] = halves(leaves, node);
    const leftRoot = rootOfNode(left);
    const rightRoot = leftRoot === null ? null : rootOfNode(right);
    return leftRoot === null || rightRoot === null ? null : nodeHash(sha256, leftRoot, rightRoot);
  };
  if (size <= 0 || !gaps.every((gap) => areHashes(gap))) return null;
  const root = rootOfNode({ from: 0, to: size, first: 0, end: leaves.length });
  return used === gaps.length ? root : null;
};
