/** The part of `fetch` that is used, so that any implementation of it will do. */
export type Fetch = (url: string, call: FetchCall) => Promise<FetchAnswer>;

export type FetchCall = {
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body?: string;
  readonly redirect: "manual";
  readonly signal: AbortSignal;
};

export type FetchAnswer = {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  text(): Promise<string>;
};

/** All that is asked of where it runs: Node, a browser, an edge runtime. */
export type Platform = {
  readonly fetch: Fetch;
  /** Milliseconds from any zero; never goes back. */
  now(): number;
  /** Runs something later, unless the function that it gives is called before. */
  after(ms: number, run: () => void): () => void;
  /** From 0 up to 1, for jitter. */
  random(): number;
  /** Never the same again. */
  newKey(): string;
};

/** A timer that is asked for more fires at once. */
const TIMER_MS_MAX = 2 ** 31 - 1;
/** Of 32 bits. */
const KEY_WORDS = 4;

export const platformOf = (given: Fetch | undefined): Platform => ({
  // Called as a plain function and looked up late: browsers refuse a `fetch` that is called as a method.
  fetch: given ?? ((url, call) => fetch(url, call)),
  now: () => performance.now(),
  after(ms, run) {
    const timer = setTimeout(run, Math.min(ms, TIMER_MS_MAX));
    return () => clearTimeout(timer);
  },
  random: Math.random,
  // Not randomUUID: browsers have it only on pages that came over https.
  newKey: () => crypto.getRandomValues(new Uint32Array(KEY_WORDS)).join("-"),
});
