import type { Env, Tone } from "./command.ts";

/** Foreground colours (ECMA-48, SGR): green and red, and back to the terminal's own. */
const COLOUR: Readonly<Record<Tone, string>> = { good: "\u001b[32m", bad: "\u001b[31m" };
const PLAIN = "\u001b[39m";

/** False if the output goes to a file or a program, and if the person wants no colours (no-color.org). */
export const hasColours = (isTerminal: boolean, { NO_COLOR: none = "", TERM: terminal }: Env): boolean =>
  isTerminal && none === "" && terminal !== "dumb";

export const painted = (line: string, tone: Tone): string => `${COLOUR[tone]}${line}${PLAIN}`;
