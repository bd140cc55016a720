import { randomFillSync } from "node:crypto";
import type { Randomness } from "../../domain/ports/randomness.ts";

/** A call of the generator costs some microseconds whatever its size, and one webhook needs a dozen random values. */
const POOL_BYTES = 8_192;
/** What is larger is rare, and would waste the rest of a pool. */
const POOLED_MAX = 1_024;
/** 53 bits are all that a number in [0, 1) can hold: 21 of one word and 32 of the next. */
const WORD = 2 ** 32;
const MANTISSA = 2 ** 53;

/** No byte is handed out twice: what was taken belongs to its taker, and a new pool follows a used one. */
const pooled = (): Randomness => {
  let pool = Buffer.alloc(0);
  let used = 0;

  const bytes = (size: number): Buffer => {
    if (size > POOLED_MAX) return randomFillSync(Buffer.allocUnsafeSlow(size));
    if (used + size > pool.length) {
      pool = randomFillSync(Buffer.allocUnsafeSlow(POOL_BYTES));
      used = 0;
    }
    used += size;
    return pool.subarray(used - size, used);
  };

  return {
    bytes,
    number() {
      const words = bytes(8);
      return ((words.readUInt32BE(0) >>> 11) * WORD + words.readUInt32BE(4)) / MANTISSA;
    },
  };
};

export const randomness: Randomness = pooled();
