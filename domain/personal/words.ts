import type { Commitment } from "../evidence/commitment.ts";

/** The id of personal data: the stream `personal-<id>` has its salt and value. */
export type PersonalId = `per_${string}`;

/** What a person typed, or an e-mail address. A record has this commitment, and an erasure removes the text. */
export type Words = Commitment & { readonly id: PersonalId };

/** A person's words after a sentence of the program, such as "The agent was suspended". */
export type Quoted = { readonly sentence: string; readonly words: Words };

/** The program's own reasons are in the clear; those that a person wrote are commitments. */
export type Reason = string | Words | Quoted;

/** A reason that follows from another one: the program's sentence comes before it. */
export const because = (sentence: string, reason: Reason): Reason => {
  if (typeof reason === "string") return `${sentence}: ${reason}`;
  if ("words" in reason) return { sentence: `${sentence}: ${reason.sentence}`, words: reason.words };
  return { sentence, words: reason };
};

/** What the program says of it: without a person's words, which belong in no text that is kept. Null for those alone. */
export const programsPart = (reason: Reason): string | null => {
  if (typeof reason === "string") return reason;
  return "words" in reason ? reason.sentence : null;
};
