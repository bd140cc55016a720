import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";

/** Custom properties reach into the shadow root, so that the colours follow the page's scheme. */
const SIGN = { minWidth: "1rem", textAlign: "center", color: "var(--ink-2)" };

export const theme = [
  EditorView.theme({
    "&": {
      background: "var(--sheet)",
      color: "var(--ink)",
      border: "1px solid var(--edge)",
      borderRadius: "var(--r-2)",
    },
    "&.cm-focused": { outline: "2px solid var(--blue)", outlineOffset: "2px" },
    ".cm-scroller": { font: "var(--t-m)", fontVariantLigatures: "none", lineHeight: "1.25rem" },
    ".cm-content": { padding: "var(--s-3) 0", caretColor: "var(--ink)" },
    ".cm-line": { padding: "0 var(--s-5) 0 var(--s-2)" },
    ".cm-line::selection, .cm-line ::selection": { background: "var(--blue-wash)" },
    ".cm-gutters": { background: "var(--sheet)", color: "var(--ink-3)", border: "0" },
    ".cm-lineNumbers .cm-gutterElement": { minWidth: "2rem", padding: "0 var(--s-2)" },
    ".cm-sign .cm-gutterElement": SIGN,
    ".cm-added": { background: "var(--ok-wash)" },
    ".cm-condition": {
      background: "color-mix(in srgb, var(--ink) 7%, transparent)",
      borderRadius: "var(--r-1)",
    },
    ".cm-problem": { textDecoration: "underline wavy var(--wait)", textUnderlineOffset: ".25em" },
    ".cm-problem-line": {
      font: "var(--t-2)",
      color: "var(--ink)",
      background: "var(--wait-wash)",
      borderLeft: "2px solid var(--wait)",
      padding: "var(--s-2) var(--s-4)",
      whiteSpace: "pre-wrap",
      overflowWrap: "anywhere",
    },
    ".cm-tooltip": {
      background: "var(--sheet)",
      border: "1px solid var(--edge)",
      borderRadius: "var(--r-2)",
      boxShadow: "var(--lift-2)",
    },
    ".cm-tooltip.cm-tooltip-autocomplete > ul": { font: "var(--t-m)", maxWidth: "min(24rem, 90vw)" },
    ".cm-tooltip.cm-tooltip-autocomplete > ul > li": { padding: "var(--s-2) var(--s-3)" },
    ".cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]": {
      background: "var(--blue-wash)",
      color: "var(--ink)",
    },
    ".cm-completionDetail": { color: "var(--ink-3)", fontStyle: "normal" },
    ".cm-completionMatchedText": { textDecoration: "none", fontWeight: "600" },
  }),
  syntaxHighlighting(
    HighlightStyle.define([
      { tag: [tags.propertyName, tags.punctuation], color: "var(--ink-2)" },
      { tag: [tags.string, tags.number, tags.bool, tags.null], color: "var(--ink)" },
    ]),
  ),
];
