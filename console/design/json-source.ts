/** Reads JSON into a tree that keeps the source text of numbers: `1240.00` stays, and large numbers are not rounded. */

export type JsonNode =
  | { readonly kind: "object"; readonly members: readonly { readonly key: string; readonly value: JsonNode }[] }
  | { readonly kind: "array"; readonly items: readonly JsonNode[] }
  | { readonly kind: "string"; readonly text: string }
  | { readonly kind: "number" | "literal"; readonly text: string };

const TOKEN = /[\s]*(?:([{}[\],:])|("(?:[^"\\]|\\.)*")|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|(true|false|null))/y;
/** As deep as the service accepts. */
const DEPTH_MAX = 64;

class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** The next token; null at the end and at what is no JSON. */
  next(): RegExpExecArray | null {
    TOKEN.lastIndex = this.#at;
    const token = TOKEN.exec(this.#text);
    if (token !== null) this.#at = TOKEN.lastIndex;
    return token;
  }

  peek(): string | undefined {
    const before = this.#at;
    const token = this.next();
    this.#at = before;
    return token?.[1];
  }

  get isAtEnd(): boolean {
    return this.#text.slice(this.#at).trim() === "";
  }
}

const textOf = (quoted: string): string => String(JSON.parse(quoted));

const listed = <T>(reader: Reader, close: string, read: () => T | null): readonly T[] | null => {
  const all: T[] = [];
  if (reader.peek() === close) {
    reader.next();
    return all;
  }
  for (;;) {
    const one = read();
    if (one === null) return null;
    all.push(one);
    const mark = reader.next()?.[1];
    if (mark === close) return all;
    if (mark !== ",") return null;
  }
};

const nodeAt = (reader: Reader, depth: number): JsonNode | null => {
  const token = reader.next();
  if (token === null || depth > DEPTH_MAX) return null;
  const [, mark, quoted, number, literal] = token;
  if (quoted !== undefined) return { kind: "string", text: textOf(quoted) };
  if (number !== undefined) return { kind: "number", text: number };
  if (literal !== undefined) return { kind: "literal", text: literal };
  if (mark === "[") {
    const items = listed(reader, "]", () => nodeAt(reader, depth + 1));
    return items === null ? null : { kind: "array", items };
  }
  if (mark !== "{") return null;
  const members = listed(reader, "}", () => {
    const key = reader.next()?.[2];
    if (key === undefined || reader.next()?.[1] !== ":") return null;
    const value = nodeAt(reader, depth + 1);
    return value === null ? null : { key: textOf(key), value };
  });
  return members === null ? null : { kind: "object", members };
};

/** Null if the text is no JSON, or deeper than the service accepts. */
export const parseJsonSource = (text: string): JsonNode | null => {
  const reader = new Reader(text);
  try {
    const node = nodeAt(reader, 0);
    return node !== null && reader.isAtEnd ? node : null;
  } catch {
    // A string with an escape that JSON does not have.
    return null;
  }
};

/** One line of the tree; `pointer` is a JSON Pointer (RFC 6901). */
export type TreeLine = {
  readonly pointer: string;
  readonly depth: number;
  readonly key: string | null;
  readonly node: JsonNode;
  /** True for the line with the closing bracket. */
  readonly isClose: boolean;
  /** How many members or items a folded node has; null for an open one and for a value. */
  readonly folded: number | null;
};

const childrenOf = (
  node: JsonNode,
): readonly { readonly key: string | null; readonly at: string; readonly value: JsonNode }[] => {
  if (node.kind === "object")
    return node.members.map(({ key, value }) => ({
      key,
      at: key.replaceAll("~", "~0").replaceAll("/", "~1"),
      value,
    }));
  return node.kind === "array" ? node.items.map((value, at) => ({ key: null, at: String(at), value })) : [];
};

/** The lines that are to be seen while the pointers in `folded` are folded. */
export const treeLines = (root: JsonNode, folded: ReadonlySet<string>): readonly TreeLine[] => {
  const lines: TreeLine[] = [];
  const walk = (
    node: JsonNode,
    pointer: string,
    place: { readonly depth: number; readonly key: string | null },
  ): void => {
    const children = childrenOf(node);
    const isFolded = children.length > 0 && folded.has(pointer);
    lines.push({ pointer, ...place, node, isClose: false, folded: isFolded ? children.length : null });
    if (children.length === 0 || isFolded) return;
    for (const { key, at, value } of children) walk(value, `${pointer}/${at}`, { depth: place.depth + 1, key });
    lines.push({ pointer, ...place, node, isClose: true, folded: null });
  };
  walk(root, "", { depth: 0, key: null });
  return lines;
};

export const isBranch = (node: JsonNode): boolean => childrenOf(node).length > 0;
