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

export type Platform = {
  readonly fetch: Fetch;
  now(): number;
  after(ms: number, run: () => void): () => void;
  random(): number;
  newKey(): string;
};

/** The longest delay of a timer: one with a longer delay would fire at once. */
const TIMER_MS_MAX = 2 ** 31 - 1;
const KEY_WORDS = 4;

export const platformOf = (given: Fetch | undefined): Platform => ({
  // A plain function that looks `fetch` up at each call, because browsers refuse a `fetch` that is called as a method.
  fetch: given ?? ((url, call) => fetch(url, call)),
  now: () => performance.now(),
  after(ms, run) {
    const timer = setTimeout(run, Math.min(ms, TIMER_MS_MAX));
    return () => clearTimeout(timer);
  },
  random: Math.random,
  // Not `randomUUID`, because browsers have that only on pages from https.
  newKey: () => crypto.getRandomValues(new Uint32Array(KEY_WORDS)).join("-"),
});
