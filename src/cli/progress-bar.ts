import type { Terminal } from "./command.ts";

const NOTE_MS = 5_000;
const BAR_WIDTH_MAX = 40;

export type ProgressBar = {
  show(done: number, total: number, words: string): void;
  end(): void;
};

export const barOf = (done: number, total: number, width: number): string => {
  const part = total === 0 ? 1 : Math.min(1, done / total);
  const full = Math.floor(part * width);
  return `[${"#".repeat(full)}${".".repeat(width - full)}] ${String(Math.floor(part * 100)).padStart(3)} %`;
};

/** Shows progress as a bar if there is a terminal, else as a line every 5 s. */
export const progressBar = ({ screen, note }: Terminal): ProgressBar => {
  let saidAt = Number.NEGATIVE_INFINITY;
  return {
    show(done, total, words) {
      const count = `${done} of ${total}`;
      if (screen !== undefined) {
        const text = `${barOf(done, total, Math.min(BAR_WIDTH_MAX, Math.max(5, screen.columns - 60)))}  ${count}  ${words}`;
        screen.draw(text.slice(0, screen.columns - 1));
      } else if (performance.now() - saidAt >= NOTE_MS) {
        saidAt = performance.now();
        note(`${count}  ${words}`);
      }
    },
    end: () => screen?.draw(""),
  };
};
