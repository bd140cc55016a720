import { useState } from "preact/hooks";
import { counted } from "../../design/format.ts";
import { Mark } from "../../design/mark.tsx";
import { Note, Section, Time } from "../../design/text.tsx";
import { useNames } from "../api/names.ts";
import { lineDifference } from "./line-difference.ts";
import { changesBetween } from "./policy-difference.ts";
import { type Draft, definitionOf, parsedDraft, textOf } from "./policy-draft.ts";
import { faultInForm, nameInForm } from "./policy-fields.ts";
import { PolicyForm } from "./policy-form.tsx";
import { ChangeList, CodeLines } from "./policy-lines.tsx";
import type { PolicyProblem } from "./policy-problem.ts";
import { TextView } from "./policy-text-view.tsx";
import type { Policy } from "./policy-words.ts";
import type { Validated } from "./use-validation.ts";

type ProblemsProps = {
  readonly validated: Validated;
  /** What the reader sees the value at a JSON Pointer as. */
  readonly nameOf: (pointer: string) => string;
  /** What is wrong with it, as a sentence. */
  readonly sentenceOf: (message: string) => string;
  readonly onUse: (problem: PolicyProblem) => void;
};

const nameInText = (pointer: string): string => (pointer === "" ? "The policy" : pointer);

/** What keeps the draft from being published, with what was most likely meant. */
const Problems = ({ validated: { problems, warnings, unchecked }, nameOf, sentenceOf, onUse }: ProblemsProps) => (
  <div role="status" class="stack tight">
    {problems.map((it) => (
      <p class="err" key={`${it.path} ${it.message}`}>
        <Mark name="degraded" role="wait" />
        <span>
          <b>{nameOf(it.path)}</b>: {sentenceOf(it.message)}{" "}
          {it.proposal === undefined ? null : (
            <button class="link" type="button" onClick={() => onUse(it)}>
              Use {it.proposal}
            </button>
          )}
        </span>
      </p>
    ))}
    {warnings.map((it) => (
      <p class="err" key={it.message}>
        <Mark name="info" role="mute" />
        <span>{it.message}</span>
      </p>
    ))}
    {unchecked === null ? null : <p class="soft">{unchecked}</p>}
  </div>
);

type NewerProps = {
  readonly policy: Policy;
  readonly base: number;
  readonly onKeep: () => void;
  readonly onDiscard: () => void;
};

/** Another person's version came between: nothing of it is overwritten before it was seen. */
const Newer = ({ policy, base, onKeep, onDiscard }: NewerProps) => {
  const nameOf = useNames();
  return (
    <Note role="wait" mark="held" isAlert>
      <p>
        <b>Version {policy.version} was published meanwhile</b> by {nameOf(policy.created_by) ?? "somebody"}{" "}
        <Time at={policy.created_at} />
        {policy.reason === undefined ? "" : `: ${policy.reason}`}. Your draft was written on version {base}. Below is
        how it differs from version {policy.version}: what you publish replaces all of it.
      </p>
      <div class="row">
        <button class="btn" type="button" onClick={onKeep}>
          Keep my draft, on version {policy.version}
        </button>
        <button class="btn" type="button" onClick={onDiscard}>
          Begin again from version {policy.version}
        </button>
      </div>
    </Note>
  );
};

const replaced = (text: string, { name = "", proposal = "" }: PolicyProblem): string => {
  const written = name.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return text.replace(new RegExp(`(?<![\\w.])${written}(?!\\w)`), () => proposal);
};

type DraftProps = {
  readonly policy: Policy | null;
  readonly draft: Draft;
  readonly validated: Validated;
  readonly onDraft: (draft: Draft) => void;
  readonly onDiscard: () => void;
};

/** Form and text are two views of one draft. */
export const DraftView = ({ policy, draft, validated, onDraft, onDiscard }: DraftProps) => {
  const [view, setView] = useState<"form" | "text">("form");
  const setText = (text: string): void => onDraft({ ...draft, text });
  const before = policy === null ? null : definitionOf(policy);
  const parsed = parsedDraft(draft.text);
  const changes = before === null || parsed === null ? [] : changesBetween(before, parsed);
  const views = [
    ["form", "Form"],
    ["text", "Text"],
  ] as const;
  return (
    <>
      {policy !== null && draft.base !== null && draft.base < policy.version ? (
        <Newer
          policy={policy}
          base={draft.base}
          onKeep={() => onDraft({ ...draft, base: policy.version })}
          onDiscard={onDiscard}
        />
      ) : null}
      <Section
        title="Draft"
        beside={
          <>
            <span class="meta">
              {policy === null
                ? "Not published yet"
                : `${changes.length === 0 ? "No changes" : counted(changes.length, "change")} since version ${policy.version}`}
            </span>
            <div class="seg" role="group" aria-label="View">
              {views.map(([name, word]) => (
                <button key={name} type="button" aria-pressed={view === name} onClick={() => setView(name)}>
                  {word}
                </button>
              ))}
            </div>
          </>
        }
      >
        <div class="stack">
          {view === "form" ? (
            <PolicyForm
              text={draft.text}
              problems={validated.problems}
              onText={setText}
              onOpenText={() => setView("text")}
            />
          ) : (
            <TextView
              text={draft.text}
              before={before === null ? null : textOf(before)}
              problems={validated.problems}
              onText={setText}
            />
          )}
          <Problems
            validated={validated}
            nameOf={view === "form" ? nameInForm : nameInText}
            sentenceOf={view === "form" ? faultInForm : (message) => `${message}.`}
            onUse={(problem) => setText(replaced(draft.text, problem))}
          />
        </div>
      </Section>
      {before === null || changes.length === 0 ? null : (
        <Section title={`What differs from version ${policy?.version}`}>
          {view === "form" ? (
            <ChangeList changes={changes} />
          ) : (
            <CodeLines
              label="The draft against the version in force"
              lines={lineDifference(textOf(before), draft.text)}
              without={null}
            />
          )}
        </Section>
      )}
    </>
  );
};
