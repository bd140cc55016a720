/**
 * What a page shows, as plain data: made by pure functions, tested without a browser, turned into elements by `render.ts`
 * alone. Text is always text; there is no way to put markup in.
 */
export type Tree = string | Element;

/** No scripts, styles or frames. */
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

/** What a form's fields say, by their names; empty for those that were left empty. */
export type Fields = Readonly<Record<string, string>>;

export type Element = {
  readonly tag: Tag;
  /** `true` is an attribute without a value; `false` and null are none. */
  readonly attributes: Readonly<Record<string, string | number | boolean | null>>;
  readonly children: readonly Tree[];
  readonly onClick?: () => void;
  /** Of a form: sent by its button or the Enter key. */
  readonly onSubmit?: (fields: Fields) => void;
};

export type Attributes = Element["attributes"];

export const h = (tag: Tag, attributes: Attributes = {}, ...children: readonly Tree[]): Element => ({
  tag,
  attributes,
  children,
});

/** Everything that is read in a tree, for tests and for titles. */
export const textOf = (tree: Tree): string => (typeof tree === "string" ? tree : tree.children.map(textOf).join(" "));

/** The elements of a tree that a test asks for, from the outside in. */
export const elementsOf = (tree: Tree, tag?: Tag): readonly Element[] => {
  if (typeof tree === "string") return [];
  const within = tree.children.flatMap((child) => elementsOf(child, tag));
  return tag === undefined || tree.tag === tag ? [tree, ...within] : within;
};
