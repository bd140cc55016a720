export type Randomness = {
  readonly bytes: (size: number) => Uint8Array;
  /** In [0, 1). */
  readonly number: () => number;
};
