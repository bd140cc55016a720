import { type FieldPath, isPosition } from "./field-path.ts";

/** Paths with a common beginning share a node, so that a document is walked once for all of them. */
type Node = {
  isEnd: boolean;
  readonly names: Map<string, Node>;
  readonly positions: Map<string, Node>;
  /** The paths that go on with a name, which apply to each element of a list; null until they are needed. */
  ofElements: Node | null;
};

const emptyNode = (): Node => ({ isEnd: false, names: new Map(), positions: new Map(), ofElements: null });

const treeOf = (paths: readonly FieldPath[]): Node => {
  const root = emptyNode();
  for (const path of paths) {
    let node = root;
    for (const name of path) {
      const children = isPosition(name) ? node.positions : node.names;
      const known = children.get(name);
      const next = known ?? emptyNode();
      if (known === undefined) children.set(name, next);
      node = next;
    }
    node.isEnd = true;
  }
  return root;
};

const ofElements = (node: Node): Node | null => {
  if (node.names.size === 0) return null;
  if (node.positions.size === 0) return node;
  node.ofElements ??= { isEnd: false, names: node.names, positions: new Map(), ofElements: null };
  return node.ofElements;
};

/** A path that crosses a list without a position applies to each element; in an object a position is a name. */
export class PathTree {
  static readonly none = new PathTree([]);

  readonly #nodes: readonly Node[];

  private constructor(nodes: readonly Node[]) {
    this.#nodes = nodes;
  }

  static of(paths: readonly FieldPath[]): PathTree {
    return paths.length === 0 ? PathTree.none : new PathTree([treeOf(paths)]);
  }

  static #from(nodes: readonly Node[]): PathTree {
    return nodes.length === 0 ? PathTree.none : new PathTree(nodes);
  }

  get isEmpty(): boolean {
    return this.#nodes.length === 0;
  }

  get isEnd(): boolean {
    return this.#nodes.some((node) => node.isEnd);
  }

  get hasPositions(): boolean {
    return this.#nodes.some(({ positions }) => positions.size > 0);
  }

  member(name: string): PathTree {
    const nodes: Node[] = [];
    for (const { names, positions } of this.#nodes) {
      const next = names.get(name) ?? positions.get(name);
      if (next !== undefined) nodes.push(next);
    }
    return PathTree.#from(nodes);
  }

  element(index: number): PathTree {
    const nodes: Node[] = [];
    for (const node of this.#nodes) {
      const every = ofElements(node);
      if (every !== null) nodes.push(every);
      const own = node.positions.size === 0 ? undefined : node.positions.get(String(index));
      if (own !== undefined) nodes.push(own);
    }
    return PathTree.#from(nodes);
  }

  names(): readonly string[] {
    return this.#nodes.flatMap(({ names, positions }) => [...names.keys(), ...positions.keys()]);
  }
}
