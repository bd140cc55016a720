import { useEffect, useId, useRef, useState } from "preact/hooks";
import { Icon } from "./mark.tsx";
import { Copied, Note } from "./text.tsx";

type SecretProps = {
  readonly secret: string;
  /** What it is, in a sentence: "This key is shown once." */
  readonly title: string;
  readonly text: string;
  /** The name of the variable in the file that can be saved; left out for what no program reads, such as a link. */
  readonly variable?: string;
  /** The caller forgets the secret, so that it leaves the page. */
  readonly onDone: () => void;
};

const saveAs = (name: string, text: string): void => {
  const address = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  URL.revokeObjectURL(address);
};

/** A secret that is shown once: it is never in the address or in storage, and leaves the page with Done. */
export const Secret = ({ secret, title, text, variable, onDone }: SecretProps) => {
  const [isStored, setStored] = useState(false);
  const box = useId();
  const top = useRef<HTMLDivElement>(null);
  // It is shown once, and what made it may stand far below.
  useEffect(() => top.current?.focus(), []);
  return (
    <div ref={top} tabIndex={-1} role="group" aria-label={title}>
      <Note role="wait" icon="key">
        <p>
          <b>{title}</b> {text}
        </p>
        <p class="vh">Secret, {secret.length} characters, Copy</p>
        <Copied value={secret} />
        <div class="row">
          {variable === undefined ? null : (
            <button class="btn" type="button" onClick={() => saveAs(".env", `${variable}=${secret}\n`)}>
              <Icon name="down" small />
              Save as .env
            </button>
          )}
          <label class="row tight" for={box}>
            <input id={box} type="checkbox" checked={isStored} onChange={() => setStored(!isStored)} /> I have stored it
          </label>
          <button class="btn first end" type="button" disabled={!isStored} onClick={onDone}>
            Done
          </button>
        </div>
      </Note>
    </div>
  );
};
