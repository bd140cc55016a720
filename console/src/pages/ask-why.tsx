import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Field, fieldsOf } from "../../design/field.tsx";
import { Layer } from "../../design/layer.tsx";
import { toast } from "../../design/toast.tsx";
import type { Answered } from "../api/calls.ts";

/** The longest reason that the service records, in characters. */
const REASON_MAX = 500;

type AskWhyProps = {
  readonly question: string;
  /** What stops, what goes on, and how many are touched. */
  readonly children: ComponentChildren;
  /** What the two buttons say. */
  readonly act: string;
  readonly keep: string;
  readonly send: (reason: string) => Promise<Answered<unknown>>;
  /** What is told afterwards. */
  readonly done: string;
  readonly onDone: () => void;
  readonly onClose: () => void;
};

/** Asks before what cannot be undone from here, and in the same layer why: the reason is recorded with the act. */
export const AskWhy = ({ question, children, act, keep, send, done, onDone, onClose }: AskWhyProps) => {
  const [fault, setFault] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const submit = async (form: HTMLFormElement): Promise<void> => {
    if (isBusy) return;
    setBusy(true);
    const answer = await send(fieldsOf(form).reason ?? "");
    setBusy(false);
    if (!answer.ok) return setFault(answer.problem.detail);
    toast.value = { text: done };
    onClose();
    onDone();
  };
  return (
    <Layer label={question} kind="box" onClose={onClose}>
      <h3>{question}</h3>
      <p>{children}</p>
      <form
        class="stack tight"
        onSubmit={(event) => {
          event.preventDefault();
          void submit(event.currentTarget);
        }}
      >
        <Field label="Why" name="reason" required maxLength={REASON_MAX} fault={fault} />
        <div class="row">
          <button class="btn end" type="button" autofocus onClick={onClose}>
            {keep}
          </button>
          <button class="btn danger" type="submit" disabled={isBusy}>
            {act}
          </button>
        </div>
      </form>
    </Layer>
  );
};
