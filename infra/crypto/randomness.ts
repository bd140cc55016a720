import { randomBytes } from "node:crypto";
import type { Randomness } from "../../domain/ports.ts";

/** 53 bits are all that a number in [0, 1) can hold. */
const MANTISSA = 2 ** 53;

export const randomness: Randomness = {
  bytes: (size) => randomBytes(size),
  number: () => Number(randomBytes(8).readBigUInt64BE() >> 11n) / MANTISSA,
};
