/**
 * Durations in whole milliseconds, stored as `[bin, count, bin, count, …]` by rising bin. Bins are those of
 * HdrHistogram (hdrhistogram.github.io): each power of two has 2^bits bins of equal width, so a bin's middle is at most
 * 1 / 2^(bits + 1) off. Integer arithmetic puts a value into the same bin on every engine, which the logarithm of
 * DDSketch (Masson, Rim and Lee, VLDB 2019) does not promise.
 */
export type Histogram = readonly number[];

export const NO_DURATIONS: Histogram = [];

/** At most 6.25 % off. */
const SUB_BITS = 3;
/** At most 3.125 % off. */
export const FINE_BITS = 4;
/** Some 24 days. Longer durations, and NaN, are counted as this one. */
const DURATION_MAX_MS = 2 ** 31 - 1;

export const binOf = (durationMs: number, bits = SUB_BITS): number => {
  const bins = 1 << bits;
  const value = durationMs > 0 ? Math.floor(Math.min(durationMs, DURATION_MAX_MS)) : 0;
  if (value < bins) return value;
  const exponent = 31 - Math.clz32(value);
  return (exponent - bits) * bins + (value >>> (exponent - bits));
};

/** The middle of a bin, in milliseconds. */
export const durationOf = (bin: number, bits = SUB_BITS): number => {
  const bins = 1 << bits;
  if (bin < 2 * bins) return bin;
  const shift = Math.floor(bin / bins) - 1;
  const low = (bin - shift * bins) * 2 ** shift;
  return low + (2 ** shift - 1) / 2;
};

export const withDuration = (histogram: Histogram, durationMs: number): Histogram => {
  const bin = binOf(durationMs);
  const next = histogram.slice();
  let at = 0;
  while (at < next.length && (next[at] ?? 0) < bin) at += 2;
  if (next[at] === bin) next[at + 1] = (next[at + 1] ?? 0) + 1;
  else next.splice(at, 0, bin, 1);
  return next;
};

export const merged = (histograms: Iterable<Histogram>): Histogram => {
  const counts = new Map<number, number>();
  for (const histogram of histograms)
    for (let at = 0; at < histogram.length; at += 2) {
      const bin = histogram[at] ?? 0;
      counts.set(bin, (counts.get(bin) ?? 0) + (histogram[at + 1] ?? 0));
    }
  const all: number[] = [];
  for (const bin of [...counts.keys()].sort((a, b) => a - b)) all.push(bin, counts.get(bin) ?? 0);
  return all;
};

export const sizeOf = (histogram: Histogram): number => {
  let size = 0;
  for (let at = 1; at < histogram.length; at += 2) size += histogram[at] ?? 0;
  return size;
};

/** The nearest-rank percentile of the durations (ms), with `share` in (0, 1]; null if there are no durations. */
export const percentile = (histogram: Histogram, share: number, bits = SUB_BITS): number | null => {
  const rank = Math.ceil(sizeOf(histogram) * share);
  let seen = 0;
  for (let at = 0; at < histogram.length; at += 2) {
    seen += histogram[at + 1] ?? 0;
    if (seen >= rank) return Math.round(durationOf(histogram[at] ?? 0, bits));
  }
  return null;
};
