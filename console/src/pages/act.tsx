import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Confirm } from "../../design/layer.tsx";
import { ErrorText } from "../../design/text.tsx";
import { toast } from "../../design/toast.tsx";
import type { Answered } from "../api/calls.ts";
import { withHolders } from "../api/holders.ts";
import { mayIt } from "../api/may-decide.ts";
import { ActButton } from "./act-button.tsx";

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
  /** True if the page shows `why` already. */
  readonly isTold?: boolean;
};

/** A button that does one thing, and tells what came of it. */
export const Act = <T,>({ label, act, done, onDone, why, ask, isFirst = false, isTold = false }: ActProps<T>) => {
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
      <ActButton
        why={why}
        isFirst={isFirst}
        isTold={isTold}
        onPress={() => (ask === undefined ? void run() : setAsking(true))}
      >
        {ask === undefined ? label : `${label}…`}
      </ActButton>
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
