/**
 * Characters that are invisible or reorder text (UAX #9, section 2; Default_Ignorable_Code_Point), blank braille, and
 * every space but the plain one. `console/design/visible-text.ts` repeats this for the browser.
 */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{DI}\u2800]|(?! )\p{Zs}/gu;
const UNSEEN_IN_LINES = /(?!\t|\r?\n)(?:[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{DI}\u2800]|(?! )\p{Zs})/gu;

const escaped = (character: string): string =>
  Array.from(
    { length: character.length },
    (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`,
  ).join("");

/** Replaces invisible characters by their escapes (`\u202e`), so that a reader sees them. */
export const visibleLine = (text: string): string => text.replace(UNSEEN, escaped);

export const visibleText = (text: string): string => text.replace(UNSEEN_IN_LINES, escaped);
