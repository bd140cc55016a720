import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

type ActButtonProps = {
  /** Why the button does nothing, as a sentence; null if it works. Of buttons side by side, only the first one's is seen. */
  readonly why: string | null;
  readonly onPress: () => void;
  readonly isFirst?: boolean;
  /** True while it cannot be pressed for a moment, which needs no reason. */
  readonly isBusy?: boolean;
  /** True if the page shows the reason already, so that it is not repeated beside each button. */
  readonly isTold?: boolean;
  readonly children: ComponentChildren;
};

/** A button that may be disabled. Its reason stands beside it: neither a keyboard nor a finger reaches a tooltip. */
export const ActButton = ({ why, onPress, isFirst, isBusy, isTold, children }: ActButtonProps) => {
  const id = useId();
  return (
    <>
      <button
        class={isFirst === true ? "btn first" : "btn"}
        type="button"
        disabled={why !== null || isBusy === true}
        aria-describedby={why === null ? undefined : id}
        onClick={onPress}
      >
        {children}
      </button>
      {why === null ? null : (
        <span class={isTold === true ? "vh" : "act-why"} id={id}>
          {why}
        </span>
      )}
    </>
  );
};
