import type { ComponentChildren } from "preact";
import { useId, useState } from "preact/hooks";
import { fieldsOf } from "../../design/field.tsx";
import { ErrorText } from "../../design/text.tsx";
import { toast } from "../../design/toast.tsx";
import type { Answered, Problem } from "../api/calls.ts";
import { whyNotAdmin } from "./act.tsx";
import { faultSentence } from "./fault-sentence.ts";
import { PlanLimit } from "./plan-limit.tsx";

/** What is to be written instead in the field of this name; null if it was not refused. */
export type FaultOf = (name: string) => string | null;

const fieldAt = (path: string): string => path.split("/")[1] ?? "";

/** `told` gets the names of the fields at which a fault is shown. */
const faultsOf =
  (problem: Problem | null, told: Set<string>): FaultOf =>
  (name) => {
    const fault = problem?.errors?.find(({ path }) => fieldAt(path) === name);
    if (fault === undefined) return null;
    told.add(name);
    return faultSentence(fault.message);
  };

type RefusedProps = { readonly problem: Problem | null; readonly told: ReadonlySet<string> };

/** Stands after the fields, which are drawn first: where all faults stand at their fields, they are not told once more. */
const Refused = ({ problem, told }: RefusedProps) => {
  const errors = problem?.errors ?? [];
  const areTold = errors.length > 0 && errors.every(({ path }) => told.has(fieldAt(path)));
  return <ErrorText text={areTold ? "Nothing was changed. Mend what is named above." : (problem?.detail ?? null)} />;
};

type SendFormProps<T> = {
  readonly label: string;
  readonly button: string;
  readonly send: (fields: Readonly<Record<string, string>>) => Promise<Answered<T>>;
  readonly onDone: (body: T) => void;
  /** What is told afterwards; null if the page tells it. */
  readonly done?: string | null;
  readonly children: (faultOf: FaultOf) => ComponentChildren;
};

/** A change of a protected policy's reach is not made at once: people decide on it. */
const isHeldChange = (body: unknown): boolean => typeof body === "object" && body !== null && "change_id" in body;

/** A form of a few fields that sends them once, and shows what was refused where it was written. */
export const SendForm = <T,>({ label, button, send, onDone, done = null, children }: SendFormProps<T>) => {
  const [problem, setProblem] = useState<Problem | null>(null);
  const [isBusy, setBusy] = useState(false);
  const why = whyNotAdmin();
  const whyId = useId();
  const onSubmit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    if (isBusy || !(event.currentTarget instanceof HTMLFormElement)) return;
    setBusy(true);
    const answer = await send(fieldsOf(event.currentTarget));
    setBusy(false);
    setProblem(answer.ok ? null : answer.problem);
    if (!answer.ok) return;
    if (isHeldChange(answer.body)) toast.value = { text: "The change waits for approval." };
    else if (done !== null) toast.value = { text: done };
    onDone(answer.body);
  };
  const told = new Set<string>();
  return (
    <form class="stack tight narrow" aria-label={label} onSubmit={(event) => void onSubmit(event)}>
      {children(faultsOf(problem, told))}
      <Refused problem={problem} told={told} />
      <div class="row">
        <button
          class="btn first"
          type="submit"
          disabled={isBusy || why !== null}
          aria-describedby={why === null ? undefined : whyId}
        >
          {button}
        </button>
        <PlanLimit problem={problem} />
        {why === null ? null : (
          <span class="soft" id={whyId}>
            {why}
          </span>
        )}
      </div>
    </form>
  );
};

type ChoiceProps = {
  readonly label: string;
  readonly name: string;
  readonly value?: string | undefined;
  readonly choices: readonly { readonly value: string; readonly word: string }[];
  readonly hint?: string;
  readonly onChoose?: (value: string) => void;
};

/** One of several, with its label. */
export const Choice = ({ label, name, value = "", choices, hint, onChoose }: ChoiceProps) => {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select id={id} class="in" name={name} onChange={(event) => onChoose?.(event.currentTarget.value)}>
        {choices.map((it) => (
          <option key={it.value} value={it.value} selected={it.value === value}>
            {it.word}
          </option>
        ))}
      </select>
      {hint === undefined ? null : <p class="hint">{hint}</p>}
    </div>
  );
};
