/** A copy of `domain/visible-text.ts`, because browsers load only this folder. */
const UNSEEN_IN_LINES = /(?!\t|\r?\n)(?:[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{DI}\u2800]|(?! )\p{Zs})/gu;

const escapeOf = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** Replaces invisible characters by escapes such as `\u202e`, so that they cannot hide or reorder text. */
export const visibleText = (text: string): string =>
  text.replace(UNSEEN_IN_LINES, (character) => character.split("").map(escapeOf).join(""));
