import { createInterface } from "node:readline/promises";
import type { Screen } from "./command.ts";

/** Control codes that return to the beginning of the line and erase it (ECMA-48, CR and EL). */
const AFRESH = "\r\u001b[2K";
const COLUMNS = 80;

/** Undefined unless both streams are terminals, so that nothing is drawn or asked in a script. */
export const screenOf = (input: NodeJS.ReadStream, output: NodeJS.WriteStream): Screen | undefined => {
  if (!input.isTTY || !output.isTTY) return undefined;
  return {
    get columns() {
      return output.columns || COLUMNS;
    },
    draw: (line) => void output.write(`${AFRESH}${line}`),
    async ask(question) {
      const lines = createInterface({ input, output });
      try {
        return /^y(es)?$/i.test((await lines.question(`${question} [y/N] `)).trim());
      } finally {
        lines.close();
      }
    },
  };
};
