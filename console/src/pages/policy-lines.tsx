import { type Line, lineDifference } from "./line-difference.ts";
import type { Change } from "./policy-difference.ts";

const SIGNS = { same: "", add: "+", del: "−" } as const;

type LinesProps = {
  readonly label: string;
  readonly lines: readonly Line[];
  /** The kind that leaves a gap, because it belongs to the other side; null to show both kinds. */
  readonly without: "add" | "del" | null;
};

/** Lines of a policy; what differs has a sign besides its colour. A line of the other side leaves a gap. */
export const CodeLines = ({ label, lines, without }: LinesProps) => {
  let number = 0;
  return (
    // It scrolls, so the keyboard has to reach it.
    <section class="code" tabIndex={0} aria-label={label}>
      {lines.map((line, at) => {
        if (line.kind === without)
          return (
            <div class="ln" key={at}>
              <span />
              <span />
              <span> </span>
            </div>
          );
        number += line.kind === "del" && without === null ? 0 : 1;
        const isGone = line.kind === "del" && without === null;
        return (
          <div class={`ln ${line.kind === "same" ? "" : line.kind}`} key={at}>
            <span>{isGone ? "" : number}</span>
            <span aria-hidden="true">{SIGNS[line.kind]}</span>
            <span>{line.text}</span>
          </div>
        );
      })}
    </section>
  );
};

type SideProps = {
  readonly before: { readonly title: string; readonly text: string };
  readonly after: { readonly title: string; readonly text: string };
};

/** Two versions beside each other, line by line. */
export const SideBySide = ({ before, after }: SideProps) => {
  const lines = lineDifference(before.text, after.text);
  return (
    <div class="half">
      <div class="stack tight">
        <h3>{before.title}</h3>
        <CodeLines label={before.title} lines={lines} without="add" />
      </div>
      <div class="stack tight">
        <h3>{after.title}</h3>
        <CodeLines label={after.title} lines={lines} without="del" />
      </div>
    </div>
  );
};

/** The values that differ, in the words of the form. */
export const ChangeList = ({ changes }: { readonly changes: readonly Change[] }) => (
  <ul class="stack tight">
    {changes.map(({ label, kind, before, after }) => (
      <li key={label}>
        <b>{label}</b> {kind === "changed" ? `was ${before} and becomes ${after}` : `${kind}: ${after || before}`}
      </li>
    ))}
  </ul>
);
