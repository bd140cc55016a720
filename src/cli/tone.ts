import { visibleText } from "../../domain/visible-text.ts";
import type { Env, Tone, TonedPart, Tones } from "./command.ts";

/** Codes that begin a tone and that end it (ECMA-48, SGR): green, red, yellow, and faint. */
const CODES: Readonly<Record<Tone, readonly [number, number]>> = {
  good: [32, 39],
  bad: [31, 39],
  waiting: [33, 39],
  dim: [2, 22],
};

export const NO_COLOR_FLAG = "--no-color";

/** False if the output goes to a file or a program, and if the person wants no colours (no-color.org). */
export const hasColours = (isTerminal: boolean, { NO_COLOR: none = "", TERM: terminal }: Env): boolean =>
  isTerminal && none === "" && terminal !== "dumb";

const paintedPart = (text: string, tone: Tone): string => {
  const [begin, end] = CODES[tone];
  return `\u001b[${begin}m${text}\u001b[${end}m`;
};

export const painted = (line: string, tones: Tones): string => {
  if (typeof tones === "string") return paintedPart(line, tones);
  let [text, at] = ["", 0];
  for (const { from, to, tone } of tones) {
    text += line.slice(at, from) + paintedPart(line.slice(from, to), tone);
    at = to;
  }
  return text + line.slice(at);
};

/** A line with the parts of it that have a tone, in their order. */
export type Line = { readonly text: string; readonly tones: readonly TonedPart[] };

/** Escapes invisible characters. An escape is longer than its character, so the parts move. */
export const visibleLineOf = ({ text: given, tones }: Line): Line => {
  let [text, at] = ["", 0];
  const moved = tones.map(({ from, to, tone }) => {
    text += visibleText(given.slice(at, from));
    const begin = text.length;
    text += visibleText(given.slice(from, to));
    at = to;
    return { from: begin, to: text.length, tone };
  });
  return { text: text + visibleText(given.slice(at)), tones: moved };
};

const TONE_OF: ReadonlyMap<string, Tone> = new Map([
  ...["ok", "healthy", "active", "delivered", "committed", "approved", "consumed", "succeeded", "done", "allow"].map(
    (state) => [state, "good"] as const,
  ),
  ...["failed", "blocked", "rejected", "open", "disabled", "suspended", "deny", "rollback_incomplete"].map(
    (state) => [state, "bad"] as const,
  ),
  ...[
    "held",
    "hold",
    "queued",
    "delivering",
    "retrying",
    "pending",
    "running",
    "rolling_back",
    "degraded",
    "paused",
  ].map((state) => [state, "waiting"] as const),
]);

/** The tone of a state of the API; undefined for one that is neither good nor bad, such as `recorded`. */
export const toneOfState = (state: string): Tone | undefined => TONE_OF.get(state);
