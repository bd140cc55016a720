import type { Definition } from "./policy-definition.ts";

/** The draft of a policy: one text, of which the form is another view. This browser keeps it for the member. */

/** What the answer of a policy has beside its definition. */
const NOT_DEFINED = ["id", "version", "created_at", "created_by", "reason", "protection_lifts_at", "warnings"];

export const definitionOf = (policy: object): Definition =>
  Object.fromEntries(Object.entries(policy).filter(([name]) => !NOT_DEFINED.includes(name)));

const INDENT = 2;

export const textOf = (definition: Definition): string => JSON.stringify(definition, null, INDENT);

export const EMPTY_POLICY = textOf({ name: "" });

/** Null if the text is no JSON object. */
export const parsedDraft = (text: string): Definition | null => {
  try {
    const parsed: unknown = JSON.parse(text);
    // What JSON.parse answers is JSON, and here an object.
    return typeof parsed === "object" && parsed !== null && !Array.isArray(parsed) ? (parsed as Definition) : null;
  } catch {
    return null;
  }
};

export type Draft = {
  /** The version that it was written on; null for a new policy. */
  readonly base: number | null;
  readonly text: string;
};

const PREFIX = "countersign-draft";
const keyOf = (member: string, policy: string): string => `${PREFIX} ${member} ${policy}`;

/** A member's draft of the policy that this browser keeps; null if there is none. */
export const keptDraft = (member: string, policy: string): Draft | null => {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(keyOf(member, policy)) ?? "null");
    if (typeof kept !== "object" || kept === null || !("text" in kept) || !("base" in kept)) return null;
    const { base, text } = kept;
    const isBase = base === null || typeof base === "number";
    return isBase && typeof text === "string" ? { base, text } : null;
  } catch {
    return null;
  }
};

export const keepDraft = (member: string, policy: string, draft: Draft | null): void => {
  try {
    if (draft === null) localStorage.removeItem(keyOf(member, policy));
    else localStorage.setItem(keyOf(member, policy), JSON.stringify(draft));
  } catch {
    // The browser's storage is full or switched off: the draft lives as long as the page.
  }
};
