import { randomFillSync } from "node:crypto";
import type { Randomness } from "../../domain/ports/randomness.ts";

/** A call of the generator takes microseconds whatever its size, and a webhook needs a dozen values. */
const POOL_BYTES = 8_192;
/** Larger values are rare and would waste the rest of a pool. */
const POOLED_MAX = 1_024;
/** A number in [0, 1) has 53 bits: 21 of one word and 32 of the next. */
const WORD = 2 ** 32;
const MANTISSA = 2 ** 53;

/** No byte is used twice: a new pool replaces a used one. */
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
