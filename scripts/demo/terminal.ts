import { stripVTControlCharacters, styleText } from "node:util";

type Colour = "bold" | "dim" | "green" | "yellow" | "red" | "cyan";

/** Plain where nobody looks at a terminal, and where NO_COLOR is set (https://no-color.org). */
const isColoured = process.stdout.isTTY === true && !process.env.NO_COLOR;

export const paint = (colour: Colour, text: string): string => (isColoured ? styleText(colour, text) : text);

/** Sections are numbered in the order in which they are printed. */
export type Terminal = {
  line(text?: string): void;
  section(title: string): void;
  /** Cells below each other, the last as long as it is. */
  row(...cells: readonly string[]): void;
};

/** Of all cells but the last, in characters. */
const WIDTHS = [32, 24];

const padded = (text: string, width: number): string =>
  text + " ".repeat(Math.max(0, width - stripVTControlCharacters(text).length));

export const terminal = (): Terminal => {
  let sections = 0;
  return {
    line: (text = "") => console.log(text),
    section(title) {
      sections += 1;
      console.log(`\n${paint("bold", `${sections}. ${title}`)}`);
    },
    row(...cells) {
      const last = cells.length - 1;
      console.log(`   ${cells.map((cell, i) => (i < last ? padded(cell, WIDTHS[i] ?? 0) : cell)).join(" ")}`.trimEnd());
    },
  };
};

/** Characters of an id that tell it from the others on the screen. */
const ID_SHOWN = 14;
export const short = (id: string): string => (id.length > ID_SHOWN ? `${id.slice(0, ID_SHOWN)}…` : id);
