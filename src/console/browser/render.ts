import type { Dom, DomElement, DomNode } from "./browser.ts";
import type { Element, Fields, Tree } from "./tree.ts";
import { visibleText } from "./visible-text.ts";

/** True for the console's pages and paths of this service only, so that foreign text never becomes an address. */
const isOwnLink = (href: string): boolean => href.startsWith("#/") || /^\/(?![/\\])/.test(href);

/** No other attribute is set, so that none can be an event handler or a style. */
const ATTRIBUTES: ReadonlySet<string> = new Set([
  "aria-current",
  "aria-label",
  "autocomplete",
  "class",
  "colspan",
  "data-label",
  "datetime",
  "disabled",
  "download",
  "for",
  "high",
  "href",
  "id",
  "low",
  "max",
  "maxlength",
  "min",
  "minlength",
  "name",
  "open",
  "placeholder",
  "required",
  "role",
  "rows",
  "scope",
  "selected",
  "title",
  "type",
  "value",
]);

/**
 * Values of these attributes are edited, sent or followed, so they stay as they are; others have invisible characters
 * escaped.
 */
const AS_THEY_ARE: ReadonlySet<string> = new Set(["value", "href"]);

/** Spaces at the ends are kept in a password, of which they are a part, and cut elsewhere as an accident. */
const fieldValue = ({ type, value = "" }: DomElement): string => (type === "password" ? value : value.trim());

export const fieldsOf = (form: DomElement): Fields =>
  Object.fromEntries(
    [...(form.elements ?? [])].flatMap((it) =>
      it.name === undefined || it.name === "" ? [] : [[it.name, fieldValue(it)]],
    ),
  );

const setAttribute = (node: DomElement, name: string, value: string | number | boolean | null): void => {
  if (value === null || value === false) return;
  if (!ATTRIBUTES.has(name)) throw new Error(`the attribute ${name} is not allowed in the console`);
  if (name === "href" && !isOwnLink(String(value))) throw new Error(`the link ${value} does not lead to the console`);
  const text = value === true ? "" : String(value);
  node.setAttribute(name, AS_THEY_ARE.has(name) ? text : visibleText(text));
};

const listen = (node: DomElement, { onClick, onSubmit }: Element): void => {
  if (onClick !== undefined) node.addEventListener("click", () => onClick());
  if (onSubmit === undefined) return;
  node.addEventListener("submit", (event) => {
    // The page's Content-Security-Policy (`form-action 'none'`) forbids the submission as well.
    event.preventDefault();
    onSubmit(fieldsOf(node));
  });
};

export const showText = (element: DomElement, text: string): void => {
  element.textContent = visibleText(text);
};

export const render = (document: Dom, tree: Tree): DomNode => {
  if (typeof tree === "string") return document.createTextNode(visibleText(tree));
  const node = document.createElement(tree.tag);
  for (const [name, value] of Object.entries(tree.attributes)) setAttribute(node, name, value);
  node.append(...tree.children.map((child) => render(document, child)));
  listen(node, tree);
  return node;
};
