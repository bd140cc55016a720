import { randomFillSync } from "node:crypto";
import type { Randomness } from "../../domain/ports/randomness.ts";

/** A call of the generator takes microseconds for any size, and a webhook needs a dozen values, so they are pooled. */
const POOL_BYTES = 8_192;
const POOLED_MAX = 1_024;
const WORD = 2 ** 32;
const MANTISSA = 2 ** 53;

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
