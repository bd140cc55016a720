import { useState } from "preact/hooks";
import { digitGroups, sealDrawing } from "./seal-drawing.ts";

const Drawing = ({ digest, size = "" }: { readonly digest: string; readonly size?: string }) => {
  const { rim, curves } = sealDrawing(digest);
  return (
    <svg class={`rose ${size}`} viewBox="0 0 40 40" aria-hidden="true">
      <circle class="fill" cx="20" cy="20" r="19.5" />
      <path class="rim" d={rim} />
      {curves.map((it) => (
        <path d={it} />
      ))}
    </svg>
  );
};

/** A digest as a drawing and its first and last eight digits; a click shows all of it. */
export const Seal = ({ digest, label }: { readonly digest: string; readonly label: string }) => {
  const [isOpen, setOpen] = useState(false);
  const groups = digitGroups(digest);
  return (
    <div class="stack tight">
      <button class="seal" type="button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <Drawing digest={digest} size={isOpen ? "large" : ""} />
        <span>
          <b>{label}</b>
          <code>
            {groups.slice(0, 2).join(" ")} … {groups.slice(-2).join(" ")}
          </code>
          <span class="vh"> show in full</span>
        </span>
      </button>
      {isOpen ? (
        <span class="digest">
          {groups.map((it) => (
            <span>{it}</span>
          ))}
        </span>
      ) : null}
    </div>
  );
};
