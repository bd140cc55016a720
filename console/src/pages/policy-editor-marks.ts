import { type Range, RangeSet, StateEffect, StateField } from "@codemirror/state";
import { Decoration, type DecorationSet, EditorView, GutterMarker, gutter, WidgetType } from "@codemirror/view";
import { lineSigns, type Sign } from "./line-difference.ts";
import { conditionsOf, type Placed, placed } from "./policy-places.ts";
import { type PolicyProblem, problemText } from "./policy-problem.ts";

/** What the editor shows beside the text itself: problems, conditions, and what differs from the version in force. */

class ProblemLine extends WidgetType {
  readonly text: string;
  constructor(text: string) {
    super();
    this.text = text;
  }
  override eq({ text }: ProblemLine): boolean {
    return text === this.text;
  }
  override toDOM(): HTMLElement {
    const line = document.createElement("div");
    line.className = "cm-problem-line";
    line.textContent = this.text;
    return line;
  }
}

export const setProblems = StateEffect.define<readonly PolicyProblem[]>();

const problemMark = Decoration.mark({ class: "cm-problem" });

const problemDecorations = (all: readonly Placed[], lineEnd: (at: number) => number): DecorationSet =>
  Decoration.set(
    all.flatMap(({ from, to, problem }) => {
      const end = lineEnd(from);
      const line = Decoration.widget({ widget: new ProblemLine(problemText(problem)), block: true, side: 1 });
      const last = Math.min(to, end);
      return last > from ? [problemMark.range(from, last), line.range(end)] : [line.range(end)];
    }),
    true,
  );

/** Until the next answer the marks move with the text. */
const problems = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update: (before, { changes, effects, state: { doc } }) => {
    const set = effects.find((it) => it.is(setProblems));
    if (set === undefined) return before.map(changes);
    return problemDecorations(placed(doc.toString(), set.value), (at) => doc.lineAt(at).to);
  },
  provide: (field) => EditorView.decorations.from(field),
});

const conditionMark = Decoration.mark({ class: "cm-condition" });
const conditionsIn = (text: string): DecorationSet =>
  Decoration.set(conditionsOf(text).map(({ from, to }) => conditionMark.range(from, to)));

const conditions = StateField.define<DecorationSet>({
  create: ({ doc }) => conditionsIn(doc.toString()),
  update: (before, { docChanged, state: { doc } }) => (docChanged ? conditionsIn(doc.toString()) : before),
  provide: (field) => EditorView.decorations.from(field),
});

class SignMarker extends GutterMarker {
  readonly sign: Sign;
  constructor(sign: Sign) {
    super();
    this.sign = sign;
  }
  override eq({ sign }: SignMarker): boolean {
    return sign === this.sign;
  }
  override toDOM(): Text {
    return document.createTextNode(this.sign);
  }
}

/** The text of the version in force; null for a policy that has none. */
export const setBefore = StateEffect.define<string | null>();

type Difference = {
  readonly before: string | null;
  readonly signs: RangeSet<GutterMarker>;
  readonly lines: DecorationSet;
};

const addedLine = Decoration.line({ class: "cm-added" });
const NONE: Difference = { before: null, signs: RangeSet.empty, lines: Decoration.none };

const difference = StateField.define<Difference>({
  create: () => NONE,
  update: (known, { docChanged, effects, state: { doc } }) => {
    const set = effects.find((it) => it.is(setBefore));
    if (set === undefined && !docChanged) return known;
    const before = set === undefined ? known.before : set.value;
    if (before === null) return NONE;
    const signs: Range<GutterMarker>[] = [];
    const lines: Range<Decoration>[] = [];
    for (const [at, sign] of lineSigns(before, doc.toString()).entries()) {
      const { from } = doc.line(at + 1);
      if (sign !== "") signs.push(new SignMarker(sign).range(from));
      if (sign === "+") lines.push(addedLine.range(from));
    }
    return { before, signs: RangeSet.of(signs), lines: Decoration.set(lines) };
  },
  provide: (field) => EditorView.decorations.from(field, ({ lines }) => lines),
});

export const marks = [
  problems,
  conditions,
  difference,
  gutter({ class: "cm-sign", markers: ({ state }) => state.field(difference).signs }),
];
