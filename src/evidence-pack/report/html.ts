import { visibleLine } from "../../../domain/visible-text.ts";

/** Text that is HTML already, so that nothing else gets into a page unescaped. */
export type Html = { readonly html: string };

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

const escaped = (text: string): string => visibleLine(text).replace(/[&<>"']/g, (it) => ESCAPES[it] ?? it);

type Part = string | number | null | Html | readonly Html[];

const partHtml = (part: Part): string => {
  if (part === null) return "–";
  if (typeof part !== "object") return escaped(String(part));
  return "html" in part ? part.html : part.map(({ html }) => html).join("");
};

/** Escapes each value, but HTML. Characters that nobody sees are shown as their escapes. */
export const html = (texts: TemplateStringsArray, ...parts: readonly Part[]): Html => ({
  html: texts.map((text, n) => text + (n < parts.length ? partHtml(parts[n] ?? null) : "")).join(""),
});

export const NOTHING: Html = { html: "" };

export const time = (iso: string): Html =>
  html`<time datetime="${iso}">${iso.replace("T", " ").replace(".000Z", " UTC").replace("Z", " UTC")}</time>`;
