import { stripVTControlCharacters, styleText } from "node:util";

type Colour = "bold" | "dim" | "green" | "yellow" | "red" | "cyan";

/** False without a terminal, and if NO_COLOR is set (https://no-color.org), so that the output is plain. */
const isColoured = process.stdout.isTTY === true && !process.env.NO_COLOR;

export const paint = (colour: Colour, text: string): string => (isColoured ? styleText(colour, text) : text);

export type Terminal = {
  line(text?: string): void;
  section(title: string): void;
  row(...cells: readonly string[]): void;
};

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

/** So many characters of an id are enough to tell it from others on the screen. */
const ID_SHOWN = 14;
export const short = (id: string): string => (id.length > ID_SHOWN ? `${id.slice(0, ID_SHOWN)}…` : id);
