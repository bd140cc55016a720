export type Randomness = {
  readonly bytes: (size: number) => Uint8Array;
  /** A random number in [0, 1). */
  readonly number: () => number;
};
