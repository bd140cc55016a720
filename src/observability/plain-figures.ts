import type { Metric, Registry } from "prom-client";

type Labels = Readonly<Record<string, string>>;
type Value = {
  readonly metricName?: string;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
};
type About = { readonly name: string; readonly help: string; readonly labelNames: readonly string[] };

/** Stands between the label values in the key of a series. */
const BETWEEN = "\n";

/** The series of a figure by their label values, in the order in which they began. */
class SeriesMap<S> {
  readonly #labelNames: readonly string[];
  readonly #begin: (labels: Labels) => S;
  readonly #all = new Map<string, S>();

  constructor(labelNames: readonly string[], begin: (labels: Labels) => S) {
    this.#labelNames = labelNames;
    this.#begin = begin;
    if (labelNames.length === 0) this.of("");
  }

  /** `key` joins the label values with `BETWEEN`. */
  of(key: string): S {
    const known = this.#all.get(key);
    if (known !== undefined) return known;
    const values = key.split(BETWEEN);
    const labels = Object.fromEntries(this.#labelNames.map((name, n) => [name, values[n] ?? ""]));
    const begun = this.#begin(labels);
    this.#all.set(key, begun);
    return begun;
  }

  values(): readonly S[] {
    return [...this.#all.values()];
  }
}

/** A registry only asks a metric for its name and its values, at each scrape. */
const register = (registry: Registry, type: "counter" | "histogram", about: About, values: () => readonly Value[]) => {
  const metric = { ...about, type, get: async () => ({ ...about, type, values: values() }) };
  registry.registerMetric(metric as unknown as Metric);
};

export type PlainCounter = { add(count: number, ...labelValues: readonly string[]): void };
export type PlainHistogram = {
  observe(value: number, ...labelValues: readonly string[]): void;
  /** Observes the same value `count` times. */
  observeMany(count: number, value: number, ...labelValues: readonly string[]): void;
  /** Begins the series, so that it is shown before its first observation. */
  begin(...labelValues: readonly string[]): void;
};

/** Counts in numbers, which prom-client reads at a scrape: its own counters look their labels up by sorted names. */
export const plainCounter = (registry: Registry, about: About): PlainCounter => {
  const series = new SeriesMap(about.labelNames, (labels) => ({ labels, value: 0 }));
  register(registry, "counter", about, () => series.values());
  return {
    add(count, ...labelValues) {
      series.of(labelValues.join(BETWEEN)).value += count;
    },
  };
};

export const plainHistogram = (registry: Registry, about: About, bounds: readonly number[]): PlainHistogram => {
  const series = new SeriesMap(about.labelNames, (labels) => ({
    labels,
    /** How many values are at most the bound and above the one before it; the last entry counts those above all bounds. */
    buckets: new Array<number>(bounds.length + 1).fill(0),
    sum: 0,
  }));
  const bucketOf = (value: number): number => {
    for (let n = 0; n < bounds.length; n += 1) if (value <= (bounds[n] ?? 0)) return n;
    return bounds.length;
  };
  const shown = ({ labels, buckets, sum }: ReturnType<typeof series.of>): Value[] => {
    let count = 0;
    const of = (suffix: string, value: number, le: Readonly<Record<string, string | number>> = {}): Value => ({
      metricName: `${about.name}_${suffix}`,
      labels: { ...le, ...labels },
      value,
    });
    const counts = buckets.map((inBucket, n) => {
      count += inBucket;
      return of("bucket", count, { le: bounds[n] ?? "+Inf" });
    });
    return [...counts, of("sum", sum), of("count", count)];
  };
  register(registry, "histogram", about, () => series.values().flatMap(shown));
  const observeMany: PlainHistogram["observeMany"] = (count, value, ...labelValues) => {
    const one = series.of(labelValues.join(BETWEEN));
    const n = bucketOf(value);
    one.buckets[n] = (one.buckets[n] ?? 0) + count;
    one.sum += count * value;
  };
  return {
    observeMany,
    observe: (value, ...labelValues) => observeMany(1, value, ...labelValues),
    begin(...labelValues) {
      series.of(labelValues.join(BETWEEN));
    },
  };
};
