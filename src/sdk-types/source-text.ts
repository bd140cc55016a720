/** Text of a schema as TypeScript source. A schema is written by others: nothing in it may end a string or a comment. */

const LINE_ENDS = /\r\n|[\n\r\u2028\u2029]/;
/** As in `domain/visible-text.ts`, which this folder cannot import: what is not seen, or shows text in another order. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{DI}\u2800]|(?! )\p{Zs}/gu;

const unitEscapes = (text: string): string =>
  Array.from({ length: text.length }, (_, at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, "0")}`).join("");

/** A string literal. JSON's is one of JavaScript as well (ECMA-262, 12.9.4), with lone surrogates escaped. */
export const quoted = (text: string): string => JSON.stringify(text).replace(UNSEEN, unitEscapes);

/**
 * A comment with a line end after it; nothing for no text. Always of several lines: a directive of the compiler, as
 * `@ts-expect-error`, counts on the last one only.
 */
export const comment = (text: string, indent: string): string => {
  if (text.trim() === "") return "";
  const lines = text
    .trim()
    .split(LINE_ENDS)
    .map((line) => line.replace(UNSEEN, unitEscapes).replaceAll("*/", "*\\/").trimEnd())
    .map((line) => (line === "" ? `${indent} *` : `${indent} * ${line}`));
  return [`${indent}/**`, ...lines, `${indent} */`, ""].join("\n");
};
