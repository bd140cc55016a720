import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";

type LayerProps = {
  /** For those who do not see it; a visible heading may repeat it. */
  readonly label: string;
  readonly kind: "box" | "pal" | "sheet";
  readonly onClose: () => void;
  /** A click outside closes it, except where that would lose something. */
  readonly isFirm?: boolean;
  /** Hides all else as long as it is open: who is before the screen may not be who opened the page. */
  readonly isAlone?: boolean;
  readonly children: ComponentChildren;
};

/** A modal layer. The browser's `dialog` keeps the focus inside, and gives it back when the layer closes. */
export const Layer = ({ label, kind, onClose, isFirm = false, isAlone = false, children }: LayerProps) => {
  const dialog = useRef<HTMLDialogElement>(null);
  const isGone = useRef(false);
  // Before anything else can happen: a key that is pressed at once must not reach what lies below.
  useLayoutEffect(() => {
    const before = document.activeElement;
    const { current } = dialog;
    current?.showModal();
    return () => {
      isGone.current = true;
      current?.close();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      class={`layer ${kind}${isAlone ? " alone" : ""}`}
      aria-label={label}
      onCancel={(event) => {
        event.preventDefault();
        if (!isFirm) onClose();
      }}
      // Browsers skip `cancel` for a second Esc without a click or key between, and close the dialog at once.
      onClose={() => {
        if (isGone.current) return;
        if (isFirm) dialog.current?.showModal();
        else onClose();
      }}
      onClick={(event) => {
        if (!isFirm && event.target === dialog.current) onClose();
      }}
    >
      <div class="inner">{children}</div>
    </dialog>
  );
};

type ConfirmProps = {
  /** The question names the thing: "Suspend refund-bot?" */
  readonly question: string;
  /** What stops, what goes on, and how many are touched. */
  readonly children: ComponentChildren;
  /** Repeats the verb: "Suspend refund-bot". */
  readonly act: string;
  /** What the safe button says: "Keep it active". */
  readonly keep: string;
  readonly onAct: () => void;
  readonly onClose: () => void;
};

/** Asked only before what cannot be undone from here. The focus begins on the safe button. */
export const Confirm = ({ question, children, act, keep, onAct, onClose }: ConfirmProps) => {
  const heading = useId();
  return (
    <Layer label={question} kind="box" onClose={onClose}>
      <h3 id={heading}>{question}</h3>
      <div>{children}</div>
      <div class="row">
        <button class="btn end" type="button" autofocus onClick={onClose}>
          {keep}
        </button>
        <button class="btn danger" type="button" onClick={onAct}>
          {act}
        </button>
      </div>
    </Layer>
  );
};
