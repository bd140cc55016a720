import { proofStateOf, type Role, type State, stateOf } from "./states.ts";

/** A line icon of 20 px; the symbols are in the page (`symbols.svg`). */
export const Icon = ({ name, small = false }: { readonly name: string; readonly small?: boolean }) => (
  <svg class={small ? "i i-s" : "i"} aria-hidden="true">
    <use href={`#i-${name}`} />
  </svg>
);

export const Mark = ({ name, role = "" }: { readonly name: string; readonly role?: Role | "" }) => (
  <svg class={`m ${role}`} aria-hidden="true">
    <use href={`#m-${name}`} />
  </svg>
);

const MarkAndWord = ({ word, mark, role }: State) => (
  <span class={`st ${role}`}>
    <Mark name={mark} />
    {word}
  </span>
);

type StateMarkProps = { readonly value: string; readonly word?: string };

/** A state as people read it: its mark in colour and its word in ink, or other words, such as "Hold, then approved". */
export const StateMark = ({ value, word = stateOf(value).word }: StateMarkProps) => (
  <MarkAndWord {...stateOf(value)} word={word} />
);
export const ProofMark = ({ value }: { readonly value: string }) => <MarkAndWord {...proofStateOf(value)} />;
