import type { Terminal } from "./command.ts";

const EVERY_MS = 2_000;

export const progress = ({ note }: Terminal): ((doing: string, count: number) => void) => {
  let said = performance.now();
  return (doing, count) => {
    const now = performance.now();
    if (now - said < EVERY_MS) return;
    said = now;
    note(`${doing}: ${count} records`);
  };
};
