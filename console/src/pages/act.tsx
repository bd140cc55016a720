import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Confirm } from "../../design/layer.tsx";
import { ErrorText } from "../../design/text.tsx";
import { toast } from "../../design/toast.tsx";
import type { Answered } from "../api/calls.ts";
import { withHolders } from "../api/holders.ts";
import { mayIt } from "../api/may-decide.ts";

/** Why this member may not, and who can; null if they may. */
export const whyNotAdmin = (): string | null =>
  mayIt("admin") ? null : withHolders("Only an admin or an owner can do this", "admin");

type ActProps<T> = {
  readonly label: string;
  readonly act: () => Promise<Answered<T>>;
  /** What is told afterwards; null if the page tells it. */
  readonly done: string | null;
  readonly onDone: (body: T) => void;
  /** Why the button does nothing; null if it works. */
  readonly why: string | null;
  /** Asked before what cannot be undone from here; the button then repeats the verb of `label`. */
  readonly ask?: { readonly question: string; readonly text: ComponentChildren; readonly keep: string };
  readonly isFirst?: boolean;
};

/** A button that does one thing, and tells what came of it. */
export const Act = <T,>({ label, act, done, onDone, why, ask, isFirst = false }: ActProps<T>) => {
  const [isAsking, setAsking] = useState(false);
  const [fault, setFault] = useState<string | null>(null);
  const run = async (): Promise<void> => {
    setAsking(false);
    const answer = await act();
    setFault(answer.ok ? null : answer.problem.detail);
    if (!answer.ok) return;
    if (done !== null) toast.value = { text: done };
    onDone(answer.body);
  };
  return (
    <>
      <button
        class={`btn ${isFirst ? "first" : ""}`}
        type="button"
        disabled={why !== null}
        title={why ?? undefined}
        onClick={() => (ask === undefined ? void run() : setAsking(true))}
      >
        {ask === undefined ? label : `${label}…`}
      </button>
      {why === null ? null : <span class="vh">{why}</span>}
      <ErrorText text={fault} />
      {isAsking && ask !== undefined ? (
        <Confirm
          question={ask.question}
          act={label}
          keep={ask.keep}
          onAct={() => void run()}
          onClose={() => setAsking(false)}
        >
          {ask.text}
        </Confirm>
      ) : null}
    </>
  );
};
