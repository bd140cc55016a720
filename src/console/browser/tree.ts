/**
 * A page as plain data: made by pure functions, tested without a browser, and turned into elements only by `render.ts`.
 * Text stays text; there is no way to insert markup.
 */
export type Tree = string | Element;

/** Excludes scripts, styles and frames. */
export type Tag =
  | "a"
  | "article"
  | "button"
  | "code"
  | "dd"
  | "details"
  | "div"
  | "dl"
  | "dt"
  | "form"
  | "h1"
  | "h2"
  | "h3"
  | "header"
  | "input"
  | "label"
  | "li"
  | "meter"
  | "nav"
  | "ol"
  | "option"
  | "p"
  | "pre"
  | "progress"
  | "section"
  | "select"
  | "small"
  | "span"
  | "strong"
  | "summary"
  | "table"
  | "tbody"
  | "td"
  | "textarea"
  | "th"
  | "thead"
  | "time"
  | "tr"
  | "ul";

/** Values by name; empty for empty fields. */
export type Fields = Readonly<Record<string, string>>;

export type Element = {
  readonly tag: Tag;
  /** `true` stands for an attribute without a value; `false` and null for none. */
  readonly attributes: Readonly<Record<string, string | number | boolean | null>>;
  readonly children: readonly Tree[];
  readonly onClick?: () => void;
  /** For forms: called by their button or the Enter key. */
  readonly onSubmit?: (fields: Fields) => void;
};

export type Attributes = Element["attributes"];

export const h = (tag: Tag, attributes: Attributes = {}, ...children: readonly Tree[]): Element => ({
  tag,
  attributes,
  children,
});

/** The text of a tree, for tests and titles. */
export const textOf = (tree: Tree): string => (typeof tree === "string" ? tree : tree.children.map(textOf).join(" "));

/** Elements of a tree in document order, for tests. */
export const elementsOf = (tree: Tree, tag?: Tag): readonly Element[] => {
  if (typeof tree === "string") return [];
  const within = tree.children.flatMap((child) => elementsOf(child, tag));
  return tag === undefined || tree.tag === tag ? [tree, ...within] : within;
};
