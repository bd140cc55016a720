/** A distribution of times, in milliseconds. */
export type Spread = {
  readonly count: number;
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly max: number;
};

/** The nearest-rank quantile: the smallest value that at least the fraction `q` of the values do not exceed. */
const rank = (sorted: Float64Array, q: number): number =>
  sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(q * sorted.length) - 1))] ?? 0;

/** Leaves out NaN, which stands for a time that was not measured. Without values all fields are 0. */
export const spreadOf = (values: Iterable<number>): Spread => {
  const sorted = Float64Array.from([...values].filter((value) => !Number.isNaN(value))).sort();
  return {
    count: sorted.length,
    p50: rank(sorted, 0.5),
    p95: rank(sorted, 0.95),
    p99: rank(sorted, 0.99),
    max: rank(sorted, 1),
  };
};

/** A figure of one build or setting divided by that of another, once a round. */
export type Ratio = { readonly median: number; readonly min: number; readonly max: number; readonly rounds: number };

export const medianOf = (values: Iterable<number>): number => spreadOf(values).p50;

/** Throws if there are no values, because a ratio of nothing would read like a measured one. */
export const ratioOf = (values: readonly number[]): Ratio => {
  if (values.length === 0) throw new Error("a ratio needs at least one round");
  return { median: medianOf(values), min: Math.min(...values), max: Math.max(...values), rounds: values.length };
};
