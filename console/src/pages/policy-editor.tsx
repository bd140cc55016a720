import { autocompletion, type Completion, type CompletionSource } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { json } from "@codemirror/lang-json";
import { Annotation, EditorState } from "@codemirror/state";
import { EditorView, keymap, lineNumbers } from "@codemirror/view";
import { useEffect, useRef } from "preact/hooks";
import { type Offer, offerAt } from "./policy-completion.ts";
import { marks, setBefore, setProblems } from "./policy-editor-marks.ts";
import { theme } from "./policy-editor-theme.ts";
import type { PolicyProblem } from "./policy-problem.ts";

const LEAVING = "Tab indents. Esc and then Tab leave the editor.";

/** A name is written with its quotes and its colon, whichever of them are there already. */
const writeName: Exclude<Completion["apply"], string | undefined> = (view, { label }, from, to) => {
  const text = view.state.doc.toString();
  const start = text[from - 1] === '"' ? from - 1 : from;
  const end = text[to] === '"' ? to + 1 : to;
  const written = /^\s*:/.test(text.slice(end)) ? `"${label}"` : `"${label}": `;
  view.dispatch({
    changes: { from: start, to: end, insert: written },
    selection: { anchor: start + written.length },
    userEvent: "input.complete",
  });
};

const optionsOf = ({ kind, names }: Offer): readonly Completion[] =>
  Object.entries(names).map(([label, detail]) => ({
    ...{ label, detail },
    ...(kind === "name" ? { apply: writeName } : {}),
  }));

const known: CompletionSource = ({ state, pos, explicit }) => {
  const offer = offerAt(state.doc.toString(), pos);
  // Unasked only once something of the name is written.
  if (offer === null || (!explicit && offer.from === pos && state.sliceDoc(pos - 1, pos) !== ".")) return null;
  return { from: offer.from, options: optionsOf(offer) };
};

/** Until another key is pressed, so that nobody has to be quick. */
const letTabLeave = (view: EditorView): boolean => {
  view.setTabFocusMode(Number.POSITIVE_INFINITY);
  return true;
};

/** A text that came from the form or from a proposal, and not from this editor. */
const fromOutside = Annotation.define<true>();

/** The smallest replacement, so that the cursor stays where it is. */
const changeBetween = (before: string, after: string) => {
  const shorter = Math.min(before.length, after.length);
  let from = 0;
  while (from < shorter && before[from] === after[from]) from += 1;
  let same = 0;
  while (same < shorter - from && before.at(-1 - same) === after.at(-1 - same)) same += 1;
  return { from, to: before.length - same, insert: after.slice(from, after.length - same) };
};

const editorIn = (host: HTMLElement, text: string, onText: (text: string) => void): EditorView => {
  // In a shadow root the styles are adopted; in the document they would be an element, which the page's policy refuses.
  const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
  const extensions = [
    [lineNumbers(), marks, history(), json(), theme, EditorView.lineWrapping],
    autocompletion({ override: [known], icons: false }),
    keymap.of([{ key: "Escape", run: letTabLeave }, indentWithTab, ...defaultKeymap, ...historyKeymap]),
    EditorView.contentAttributes.of({ "aria-label": "Policy as text", "aria-description": LEAVING }),
    EditorView.updateListener.of(({ docChanged, transactions, state }) => {
      if (docChanged && !transactions.some((it) => it.annotation(fromOutside))) onText(state.doc.toString());
    }),
  ];
  return new EditorView({ parent: root, root, state: EditorState.create({ doc: text, extensions }) });
};

export type EditorProps = {
  readonly text: string;
  /** The text of the version in force, against which the gutter compares; null for a new policy. */
  readonly before: string | null;
  readonly problems: readonly PolicyProblem[];
  readonly onText: (text: string) => void;
};

/** The draft as JSON: names are completed, problems stand under their line. */
const PolicyEditor = ({ text, before, problems, onText }: EditorProps) => {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const latest = useRef(onText);
  latest.current = onText;
  /** What was written here and has not come back as `text` yet: a quick writer is ahead of it. */
  const sent = useRef<readonly string[]>([]);
  useEffect(() => {
    if (host.current === null) return;
    const editor = editorIn(host.current, text, (it) => {
      sent.current = [...sent.current, it];
      latest.current(it);
    });
    view.current = editor;
    return () => editor.destroy();
  }, []);
  useEffect(() => {
    const own = sent.current.indexOf(text);
    sent.current = own === -1 ? [] : sent.current.slice(own + 1);
    if (own !== -1) return;
    const shown = view.current?.state.doc.toString();
    if (shown === undefined || shown === text) return;
    view.current?.dispatch({ changes: changeBetween(shown, text), annotations: fromOutside.of(true) });
  }, [text]);
  useEffect(() => view.current?.dispatch({ effects: setBefore.of(before) }), [before]);
  useEffect(() => view.current?.dispatch({ effects: setProblems.of(problems) }), [problems]);
  return (
    <div class="stack tight">
      <div class="policy-text" ref={host} />
      <p class="meta">
        {LEAVING}
        {before === null ? "" : " + marks a line that differs from the version in force, − where lines of it are gone."}
      </p>
    </div>
  );
};

export default PolicyEditor;
