import { RE2JS } from "re2js";
import type { Meter } from "./meter.ts";

/** Instructions of a compiled pattern. Matching takes at most this many steps for each character of the text. */
const PROGRAM_SIZE_MAX = 1_000;

export type Pattern = { test(text: string): boolean };

/** Throws a `SyntaxError` with a message for the author. */
export const compilePattern = (source: string, meter: Meter): Pattern => {
  let compiled: RE2JS;
  try {
    compiled = RE2JS.compile(source);
  } catch (error) {
    throw new SyntaxError(`not a regular expression (RE2 syntax): ${error instanceof Error ? error.message : source}`);
  }
  const size = compiled.programSize();
  if (size > PROGRAM_SIZE_MAX)
    throw new SyntaxError(`a regular expression is too large (${size} instructions, at most ${PROGRAM_SIZE_MAX})`);
  return {
    test(text) {
      meter.spend(size * text.length);
      return compiled.test(text);
    },
  };
};
