/**
 * A page is plain data: pure functions make it, it is tested without a browser, and only `render.ts` turns it into
 * elements. Text stays text; there is no way to insert markup.
 */
export type Tree = string | Element;

/** No tag of a script, style or frame is here, so a page cannot contain one. */
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

/** The values of a form's fields by name; "" for an empty field. */
export type Fields = Readonly<Record<string, string>>;

export type Element = {
  readonly tag: Tag;
  /** `true` sets an attribute without a value; `false` and null leave the attribute out. */
  readonly attributes: Readonly<Record<string, string | number | boolean | null>>;
  readonly children: readonly Tree[];
  readonly onClick?: () => void;
  /** Only on forms: called when the user presses the form's button or the Enter key. */
  readonly onSubmit?: (fields: Fields) => void;
};

export type Attributes = Element["attributes"];

export const h = (tag: Tag, attributes: Attributes = {}, ...children: readonly Tree[]): Element => ({
  tag,
  attributes,
  children,
});

/** The text of a tree without its elements, for tests and titles. */
export const textOf = (tree: Tree): string => (typeof tree === "string" ? tree : tree.children.map(textOf).join(" "));

/** All elements of a tree, or those with the tag, in document order; for tests. */
export const elementsOf = (tree: Tree, tag?: Tag): readonly Element[] => {
  if (typeof tree === "string") return [];
  const within = tree.children.flatMap((child) => elementsOf(child, tag));
  return tag === undefined || tree.tag === tag ? [tree, ...within] : within;
};
