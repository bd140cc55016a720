/** People write the schemas, so nothing in a schema may end a string or a comment of the generated source. */

const LINE_ENDS = /\r\n|[\n\r\u2028\u2029]/;
/** The same characters as in `domain/visible-text.ts`, which this folder cannot import. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{DI}\u2800]|(?! )\p{Zs}/gu;

const unitEscapes = (text: string): string =>
  Array.from({ length: text.length }, (_, at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, "0")}`).join("");

/** A JSON string is also a JavaScript string (ECMA-262, 12.9.4). Lone surrogates and unseen characters are escaped. */
export const quoted = (text: string): string => JSON.stringify(text).replace(UNSEEN, unitEscapes);

/** The comment always has several lines, because a directive such as `@ts-expect-error` works only on the last line. */
export const comment = (text: string, indent: string): string => {
  if (text.trim() === "") return "";
  const lines = text
    .trim()
    .split(LINE_ENDS)
    .map((line) => line.replace(UNSEEN, unitEscapes).replaceAll("*/", "*\\/").trimEnd())
    .map((line) => (line === "" ? `${indent} *` : `${indent} * ${line}`));
  return [`${indent}/**`, ...lines, `${indent} */`, ""].join("\n");
};
