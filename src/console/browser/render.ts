import type { Dom, DomElement, DomNode } from "./browser.ts";
import type { Element, Fields, Tree } from "./tree.ts";
import { visibleText } from "./visible-text.ts";

/** Links lead to places of the console and addresses of this service: nothing that came from outside becomes an address. */
const isOwnLink = (href: string): boolean => href.startsWith("#/") || /^\/(?![/\\])/.test(href);

/** Set by name: of all attributes these alone, so that none can be a handler or a style. */
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

/** These hold what is edited and sent, or where a link leads; every other value is read. */
const AS_THEY_ARE: ReadonlySet<string> = new Set(["value", "href"]);

/** A password is what was typed; of everything else spaces around it are an accident. */
const fieldValue = ({ type, value = "" }: DomElement): string => (type === "password" ? value : value.trim());

export const fieldsOf = (form: DomElement): Fields =>
  Object.fromEntries(
    [...(form.elements ?? [])].flatMap((it) =>
      it.name === undefined || it.name === "" ? [] : [[it.name, fieldValue(it)]],
    ),
  );

const setAttribute = (node: DomElement, name: string, value: string | number | boolean | null): void => {
  if (value === null || value === false) return;
  if (!ATTRIBUTES.has(name)) throw new Error(`${name} is no attribute that pages of the console use`);
  if (name === "href" && !isOwnLink(String(value))) throw new Error(`${value} is no address of the console`);
  const text = value === true ? "" : String(value);
  node.setAttribute(name, AS_THEY_ARE.has(name) ? text : visibleText(text));
};

const listen = (node: DomElement, { onClick, onSubmit }: Element): void => {
  if (onClick !== undefined) node.addEventListener("click", () => onClick());
  if (onSubmit === undefined) return;
  node.addEventListener("submit", (event) => {
    // The page's policy would not let a form leave, either.
    event.preventDefault();
    onSubmit(fieldsOf(node));
  });
};

/** Puts a text into an element of the page, with what cannot be seen as escapes. */
export const showText = (element: DomElement, text: string): void => {
  element.textContent = visibleText(text);
};

/** The elements of a tree. */
export const render = (document: Dom, tree: Tree): DomNode => {
  if (typeof tree === "string") return document.createTextNode(visibleText(tree));
  const node = document.createElement(tree.tag);
  for (const [name, value] of Object.entries(tree.attributes)) setAttribute(node, name, value);
  node.append(...tree.children.map((child) => render(document, child)));
  listen(node, tree);
  return node;
};
