/** Numbers that look random and come again with the same seed (mulberry32, Tommy Ettinger 2017). */
export type SeededRandom = {
  /** From 0 up to, not including, 1. */
  next(): number;
  /** An integer from 0 up to, not including, `limit`. */
  below(limit: number): number;
};

export const seededRandom = (seed: number): SeededRandom => {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return { next, below: (limit) => Math.floor(next() * limit) };
};
