/** A copy from `domain/visible-text.ts`, as browsers load only this folder. */
const UNSEEN_IN_LINES = /(?!\t|\r?\n)(?:[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{DI}\u2800]|(?! )\p{Zs})/gu;

const escapeOf = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** Replaces invisible characters by escapes (`\u202e`). */
export const visibleText = (text: string): string =>
  text.replace(UNSEEN_IN_LINES, (character) => character.split("").map(escapeOf).join(""));
