import { clock, euro, relative, words } from "./format.ts";
import { hrefOf } from "./place.ts";
import { type Attributes, type Element, type Fields, h, type Tree } from "./tree.ts";

export const link = (href: string, ...children: readonly Tree[]): Element => h("a", { href }, ...children);

/** A link to the item, or its text alone ("–") if the id is null. */
export const linkTo = (page: string, id: string | null, text?: string): Tree =>
  id === null ? "–" : link(hrefOf(page, id), text ?? id);

export const button = (text: string, onClick: () => void, attributes: Attributes = {}): Element => ({
  ...h("button", { type: "button", ...attributes }, text),
  onClick,
});

export const form = (
  onSubmit: (fields: Fields) => void,
  attributes: Attributes,
  ...children: readonly Tree[]
): Element => ({
  ...h("form", attributes, ...children),
  onSubmit,
});

export const sending = (text: string, attributes: Attributes = {}): Element =>
  h("button", { type: "submit", ...attributes }, text);

export const field = (label: string, attributes: Attributes): Element =>
  h("label", {}, h("span", {}, label), h("input", { type: "text", ...attributes }));

export const choice = (label: string, name: string, options: readonly string[], chosen: string | undefined): Element =>
  h(
    "label",
    {},
    h("span", {}, label),
    h(
      "select",
      { name },
      ...options.map((it) =>
        h("option", { value: it, selected: it === (chosen ?? "") }, it === "" ? "any" : words(it)),
      ),
    ),
  );

const TONES: Readonly<Record<string, string>> = {
  delivered: "good",
  succeeded: "good",
  committed: "good",
  active: "good",
  healthy: "good",
  approved: "good",
  consumed: "good",
  done: "good",
  allow: "good",
  compensated: "good",
  held: "wait",
  pending: "wait",
  queued: "wait",
  delivering: "wait",
  retrying: "wait",
  running: "wait",
  rolling_back: "wait",
  degraded: "wait",
  hold: "wait",
  paused: "wait",
  unknown: "wait",
  failed: "bad",
  blocked: "bad",
  rejected: "bad",
  expired: "bad",
  open: "bad",
  disabled: "bad",
  deny: "bad",
  suspended: "bad",
  rollback_incomplete: "bad",
  compensation_failed: "bad",
};

const toneOf = (state: string): string => (Object.hasOwn(TONES, state) ? String(TONES[state]) : "plain");

export const badge = (state: string): Element => h("span", { class: `badge ${toneOf(state)}` }, words(state));

/** Class of the elements with a relative time, which are updated while they are visible. */
export const MOMENT = "moment";

/** A relative time such as "5 min ago"; its title has the exact time. */
export const moment = (iso: string | null | undefined, now: number): Tree =>
  iso === null || iso === undefined
    ? "–"
    : h("time", { class: MOMENT, datetime: iso, title: `${clock(iso)} UTC` }, relative(iso, now));

/** An id is cut if there is no room; its title, and a copy of it, have the whole id. */
export const idShown = (id: string): Element => h("small", { class: "id", title: id }, id);

export const amount = (eur: number | null): Element => h("span", { class: "tight" }, euro(eur));

export const facts = (entries: readonly (readonly [name: string, value: Tree | null])[]): Element =>
  h("dl", {}, ...entries.flatMap(([name, value]) => (value === null ? [] : [h("dt", {}, name), h("dd", {}, value)])));

/** A cell without content has no child, so that the style hides it. */
const cellOf = (label: string | undefined, content: Tree): Element =>
  h("td", { "data-label": label ?? "" }, ...(content === "" ? [] : [content]));

export const table = (head: readonly string[], rows: readonly (readonly Tree[])[], empty: string): Element =>
  rows.length === 0
    ? h("p", { class: "empty" }, empty)
    : h(
        "div",
        { class: "scroll" },
        h(
          "table",
          {},
          h("thead", {}, h("tr", {}, ...head.map((name) => h("th", { scope: "col" }, name)))),
          // On a narrow screen each cell shows the label of its column.
          h("tbody", {}, ...rows.map((cells) => h("tr", {}, ...cells.map((cell, at) => cellOf(head[at], cell))))),
        ),
      );

/** A link to older items. None leads back to newer ones, because browsers have a button for that. */
export const older = (
  page: string,
  id: string | null,
  query: Readonly<Record<string, string>>,
  cursor: string | null,
): Tree => (cursor === null ? "" : h("p", { class: "pager" }, link(hrefOf(page, id, { ...query, cursor }), "Older →")));

export const code = (text: string): Element => h("pre", {}, h("code", {}, text));

export const article = (heading: Tree | readonly Tree[], ...children: readonly Tree[]): Element =>
  h("article", {}, h("h1", {}, ...(Array.isArray(heading) ? heading : [heading])), ...children);

export const section = (title: string, ...children: readonly Tree[]): Element =>
  h("section", {}, h("h2", {}, title), ...children);
