/**
 * Invisible characters, and those that reorder text: controls, format characters (with the bidirectional ones: UAX #9,
 * section 2), surrogate halves, separators, Default_Ignorable_Code_Point, the blank braille pattern, and every space
 * but the plain one. `src/console/browser/visible-text.ts` repeats this for the browser.
 */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{DI}\u2800]|(?! )\p{Zs}/gu;
/** UNSEEN without the tab and the ends of lines. */
const UNSEEN_IN_LINES = /(?!\t|\r?\n)(?:[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{DI}\u2800]|(?! )\p{Zs})/gu;

/** One JSON escape for each UTF-16 unit: inside a JSON string it means the same. */
const escaped = (character: string): string =>
  Array.from(
    { length: character.length },
    (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`,
  ).join("");

/** One line of text in which every invisible character is replaced by its escape (`\u202e`). */
export const visibleLine = (text: string): string => text.replace(UNSEEN, escaped);

/** Several lines of such text. */
export const visibleText = (text: string): string => text.replace(UNSEEN_IN_LINES, escaped);
