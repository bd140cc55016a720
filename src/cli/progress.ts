import type { Terminal } from "./command.ts";

const EVERY_MS = 2_000;

/** A line now and then about work that takes longer than one. */
export const progress = ({ note }: Terminal): ((doing: string, count: number) => void) => {
  let said = performance.now();
  return (doing, count) => {
    const now = performance.now();
    if (now - said < EVERY_MS) return;
    said = now;
    note(`${doing}: ${count} records`);
  };
};
