import type { Browser, Dom, DomElement, DomEvent, DomNode } from "../../src/console/browser/browser.ts";

/**
 * As much of a browser as the console uses: a page read from its HTML, elements that hold what is put into them, and
 * clicks, typing and addresses for tests. What it shows is text; markup that is put in as text stays that.
 */
export type FakeElement = DomElement & {
  readonly attributes: Map<string, string>;
  readonly children: (FakeElement | FakeText)[];
  parent: FakeElement | null;
  /** To the element and, as in browsers, to whoever is around it. */
  fire(type: string): Promise<void>;
};
type FakeText = DomNode & { readonly text: string };

const VOID = new Set(["meta", "link", "input"]);
const FIELDS = new Set(["INPUT", "SELECT", "TEXTAREA"]);

const isText = (node: FakeElement | FakeText): node is FakeText => "text" in node;

export const textOf = (node: FakeElement | FakeText): string =>
  isText(node) ? node.text : node.children.map(textOf).join(" ");

export const within = (node: FakeElement): readonly FakeElement[] =>
  node.children.flatMap((child) => (isText(child) ? [] : [child, ...within(child)]));

const element = (tag: string): FakeElement => {
  const listeners: [string, (event: DomEvent) => unknown][] = [];
  const attributes = new Map<string, string>();
  let typed: string | undefined;
  const own: FakeElement = {
    nodeType: 1,
    tagName: tag.toUpperCase(),
    attributes,
    children: [],
    parent: null,
    get hidden() {
      return attributes.has("hidden");
    },
    set hidden(is) {
      if (is) attributes.set("hidden", "");
      else attributes.delete("hidden");
    },
    get name() {
      return attributes.get("name") ?? "";
    },
    get type() {
      return attributes.get("type") ?? "";
    },
    get value() {
      const chosen = within(own).find((it) => it.tagName === "OPTION" && it.attributes.has("selected"));
      const first = within(own).find((it) => it.tagName === "OPTION");
      return typed ?? attributes.get("value") ?? (chosen ?? first)?.attributes.get("value") ?? "";
    },
    set value(text) {
      typed = text;
    },
    get elements() {
      return within(own).filter(({ tagName }) => FIELDS.has(tagName) || tagName === "BUTTON");
    },
    get textContent() {
      return textOf(own);
    },
    set textContent(text) {
      own.replaceChildren({ nodeType: 3, text: text ?? "" } as FakeText);
    },
    setAttribute: (name, value) => void attributes.set(name, value),
    getAttribute: (name) => attributes.get(name) ?? null,
    removeAttribute: (name) => void attributes.delete(name),
    append(...nodes) {
      // All nodes of this page are made here.
      for (const node of nodes as readonly (FakeElement | FakeText)[]) {
        if (!isText(node)) node.parent = own;
        own.children.push(node);
      }
    },
    replaceChildren(...nodes) {
      own.children.length = 0;
      own.append(...nodes);
    },
    contains: (node) => node === own || within(own).some((it) => it === node),
    getElementsByClassName: (name) => within(own).filter((it) => it.attributes.get("class") === name),
    addEventListener: (type, listener) => void listeners.push([type, listener]),
    focus: () => undefined,
    async fire(type) {
      const event = { preventDefault: () => undefined };
      for (const [of, listener] of listeners) if (of === type) await listener(event);
      await own.parent?.fire(type);
    },
  };
  return own;
};

const TOKEN = /<!doctype html>|<(\/?)([a-z0-9]+)([^>]*)>|([^<]+)/g;
const ATTRIBUTE = /([a-z-]+)(?:="([^"]*)")?/g;

const parsed = (html: string): FakeElement => {
  const root = element("root");
  let at = root;
  for (const [, closing, tag, attributes = "", text] of html.matchAll(TOKEN)) {
    if (text !== undefined) at.append({ nodeType: 3, text } as FakeText);
    if (tag === undefined) continue;
    if (closing === "/") {
      at = at.parent ?? root;
      continue;
    }
    const made = element(tag);
    for (const [, name = "", value = ""] of attributes.matchAll(ATTRIBUTE)) made.setAttribute(name, value);
    at.append(made);
    if (!VOID.has(tag)) at = made;
  }
  return root;
};

export type FakePage = {
  readonly browser: Browser;
  byId(id: string): FakeElement;
  /** What can be read on it. */
  text(): string;
  /** The first element that reads so, or a part of it. */
  find(tag: string, text: string): FakeElement;
  /** Types into the fields of a form, by their names, and sends it. */
  fill(form: FakeElement, fields: Readonly<Record<string, string>>): Promise<void>;
  go(hash: string): Promise<void>;
  /** Does what was to be done later. */
  later(): Promise<void>;
};

/** `send` is what the page's scripts fetch with. */
export const fakePage = (html: string, send: typeof fetch): FakePage => {
  const root = parsed(html);
  const moved: (() => unknown)[] = [];
  let waiting: (() => unknown)[] = [];
  const document: Dom = {
    title: "",
    activeElement: null,
    visibilityState: "visible",
    getElementById: (id) => within(root).find(({ attributes }) => attributes.get("id") === id) ?? null,
    createElement: element,
    createTextNode: (text) => ({ nodeType: 3, text }) as FakeText,
  };
  const location = { hash: "", pathname: "/" };
  const shown = (node: FakeElement | FakeText): string =>
    isText(node) ? node.text : node.hidden ? "" : node.children.map(shown).join(" ");
  const page: FakePage = {
    browser: {
      document,
      location,
      fetch: send,
      addEventListener: (_type, listener) => void moved.push(listener),
      scrollTo: () => undefined,
      setTimeout(work) {
        waiting = [work];
      },
      clearTimeout() {
        waiting = [];
      },
    },
    byId(id) {
      const found = within(root).find(({ attributes }) => attributes.get("id") === id);
      if (found === undefined) throw new Error(`no element ${id}`);
      return found;
    },
    text: () => shown(root).replaceAll(/\s+/g, " "),
    find(tag, text) {
      const found = within(root).find((it) => it.tagName === tag.toUpperCase() && textOf(it).includes(text));
      if (found === undefined) throw new Error(`no ${tag} with ${text} in: ${page.text()}`);
      return found;
    },
    async fill(form, fields) {
      for (const [name, value] of Object.entries(fields)) {
        const field = within(form).find((it) => it.name === name);
        if (field === undefined) throw new Error(`no field ${name}`);
        field.value = value;
      }
      await form.fire("submit");
    },
    async go(hash) {
      location.hash = hash;
      for (const listener of moved) await listener();
    },
    async later() {
      const due = waiting;
      waiting = [];
      for (const work of due) await work();
    },
  };
  return page;
};
