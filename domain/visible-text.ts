/**
 * What a reader cannot see, or what changes the order in which the rest is shown: controls, format characters (the
 * bidirectional ones are among them: UAX #9, section 2), halves of surrogate pairs, separators, all that Unicode lets a
 * font leave out (Default_Ignorable_Code_Point), the blank braille pattern, and every space but the plain one.
 * `src/console/browser/visible-text.ts` has the same for the browser, which cannot load this file.
 */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{DI}\u2800]|(?! )\p{Zs}/gu;
/** The same without the tab and the ends of lines. */
const UNSEEN_IN_LINES = /(?!\t|\r?\n)(?:[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{DI}\u2800]|(?! )\p{Zs})/gu;

/** One escape for each UTF-16 unit, as JSON and JavaScript have them: inside a JSON string it means the same. */
const escaped = (character: string): string =>
  Array.from(
    { length: character.length },
    (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`,
  ).join("");

/** Text for people, of one line: everything that cannot be seen stands there as its escape (`\u202e`). */
export const visibleLine = (text: string): string => text.replace(UNSEEN, escaped);

/** Text for people, of several lines. */
export const visibleText = (text: string): string => text.replace(UNSEEN_IN_LINES, escaped);
