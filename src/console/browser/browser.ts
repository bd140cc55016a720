/** What the console uses of the DOM: the program is compiled without the DOM's types, and tests implement this part. */

export type DomNode = { readonly nodeType: number };

export type DomEvent = { preventDefault(): void };

export type DomElement = DomNode & {
  hidden: boolean;
  readonly tagName: string;
  value?: string;
  readonly name?: string;
  readonly type?: string;
  /** The fields of a form; undefined for other elements. */
  readonly elements?: Iterable<DomElement>;
  textContent: string | null;
  setAttribute(name: string, value: string): void;
  getAttribute(name: string): string | null;
  removeAttribute(name: string): void;
  append(...nodes: readonly DomNode[]): void;
  replaceChildren(...nodes: readonly DomNode[]): void;
  contains(node: DomNode | null): boolean;
  getElementsByClassName(name: string): Iterable<DomElement>;
  addEventListener(type: string, listener: (event: DomEvent) => void): void;
  focus(options?: { readonly preventScroll: boolean }): void;
};

export type Dom = {
  title: string;
  readonly activeElement: DomElement | null;
  readonly visibilityState: string;
  getElementById(id: string): DomElement | null;
  createElement(tag: string): DomElement;
  createTextNode(text: string): DomNode;
};

export type Browser = {
  readonly document: Dom;
  readonly location: { hash: string };
  readonly fetch: typeof fetch;
  addEventListener(type: "hashchange", listener: () => void): void;
  scrollTo(x: number, y: number): void;
  setTimeout(work: () => void, ms: number): unknown;
  clearTimeout(timer: unknown): void;
};

/** Throws if the page has no such element, which would be a bug. */
export const byId = (document: Dom, id: string): DomElement => {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`the page has no element ${id}`);
  return element;
};
