import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { Mark } from "./mark.tsx";

type Message = { readonly text: string; readonly act?: { readonly word: string; readonly onAct: () => void } };

const SHOWN_MS = 8_000;

/** There is at most one: it tells the outcome of one's own last act. Errors are never toasts. */
export const toast = signal<Message | null>(null);

export const Toast = () => {
  const [isHeld, setHeld] = useState(false);
  const message = toast.value;
  useEffect(() => {
    if (message === null || isHeld) return;
    const timer = setTimeout(() => {
      toast.value = null;
    }, SHOWN_MS);
    return () => clearTimeout(timer);
  }, [message, isHeld]);
  return (
    <div class="toasts" role="status">
      {message === null ? null : (
        <span
          class="toast"
          onMouseEnter={() => setHeld(true)}
          onMouseLeave={() => setHeld(false)}
          onFocusCapture={() => setHeld(true)}
          onBlurCapture={() => setHeld(false)}
        >
          <Mark name="delivered" />
          <span>{message.text}</span>
          {message.act === undefined ? null : (
            <button type="button" onClick={message.act.onAct}>
              {message.act.word}
            </button>
          )}
        </span>
      )}
    </div>
  );
};
