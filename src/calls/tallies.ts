import type { Clock } from "../../domain/ports/clock.ts";
import type { EventLog } from "../../domain/ports/event-log.ts";
import type { Randomness } from "../../domain/ports/randomness.ts";
import type { Tally } from "./tally.ts";
import { TallyBatches } from "./tally-batches.ts";

const MINUTE_MS = 60_000;
/** When this many tallies and batches are in memory, a flush begins at once. */
const FLUSH_AT = 10_000;
/** Limit of counts in memory, reached only if appends fail or very many kinds are refused in a minute. */
const COUNTS_MAX = 20_000;
const STOP_RETRIES_MS = [100, 200, 400, 800];

type OpenTally = { readonly tally: Tally; readonly minute: number; isBegun: boolean };

export type TalliesDeps = {
  readonly log: EventLog;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly onError: (error: unknown) => void;
};

/** Each node records its own counts, which readers add up. A crash loses the counts since a node's last record. */
export class Tallies {
  readonly #clock: Clock;
  readonly #onError: (error: unknown) => void;
  readonly #batches: TallyBatches;
  readonly #open = new Map<string, OpenTally>();
  #uncounted = 0;
  #flushing: Promise<void> | null = null;

  constructor({ log, clock, randomness, onError }: TalliesDeps) {
    this.#clock = clock;
    this.#onError = onError;
    this.#batches = new TallyBatches(log, clock, randomness);
  }

  /** Null if there is no room for another tally. The next flush reports how much was not counted. */
  of<T extends Tally>(name: string, make: (minute: string) => T): T | null {
    const minute = this.#minuteNow();
    // The cast is safe, because a name is always used with the same type of tally.
    const found = (this.#open.get(name) ?? this.#open.get(`${name}/${minute}`))?.tally as T | undefined;
    if (found !== undefined) return found;
    const tally = make(new Date(minute).toISOString());
    // While a batch waits, a tally of its stream and actor that is not of a minute may exceed the limit: there is at
    // most one.
    if (!(this.#batches.has(tally) && !tally.isOfMinute) && !this.#hasRoom()) {
      this.#uncounted += 1;
      return null;
    }
    this.#open.set(tally.isOfMinute ? `${name}/${minute}` : name, { tally, minute, isBegun: false });
    return tally;
  }

  isOpen(key: string): boolean {
    return this.#open.has(key);
  }

  /** Rejects with the log's error; what was not written stays counted. `all` ends the current minute's tallies, too. */
  async flush(all: boolean): Promise<void> {
    if (!all) return this.#flushing ?? this.#begin(false);
    while (this.#flushing !== null) await this.#flushing.catch(() => undefined);
    return this.#begin(true);
  }

  /** Tries a few times to write all counts. It never rejects: counts that are lost are reported. */
  async stop(): Promise<void> {
    for (const retryMs of [...STOP_RETRIES_MS, null]) {
      try {
        return await this.flush(true);
      } catch (cause) {
        const lost = `${this.#size} counts of refused requests and repeats are lost`;
        if (retryMs === null)
          return this.#onError(new Error(`${lost}: the log did not take them at the end`, { cause }));
        await new Promise((resolve) => setTimeout(resolve, retryMs));
      }
    }
  }

  get #size(): number {
    return this.#open.size + this.#batches.size;
  }

  #minuteNow(): number {
    return Math.floor(this.#clock.now() / MINUTE_MS) * MINUTE_MS;
  }

  #hasRoom(): boolean {
    if (this.#size === FLUSH_AT) this.flush(false).catch(this.#onError);
    return this.#size < COUNTS_MAX;
  }

  #begin(all: boolean): Promise<void> {
    const mine = this.#writeAll(all).finally(() => {
      if (this.#flushing === mine) this.#flushing = null;
    });
    this.#flushing = mine;
    return mine;
  }

  async #writeAll(all: boolean): Promise<void> {
    this.#reportUncounted();
    this.#gather(all);
    await this.#batches.write();
    // While a batch of a stream was being written, further requests were counted for that stream.
    if (all && this.#size > 0) await this.#writeAll(all);
  }

  #reportUncounted(): void {
    if (this.#uncounted === 0) return;
    const why = `as ${COUNTS_MAX} counts wait for the log already`;
    this.#onError(new Error(`${this.#uncounted} refused requests or repeats were not counted, ${why}`));
    this.#uncounted = 0;
  }

  /** Moves counts into batches. A tally whose earlier batch is not written yet keeps counting. */
  #gather(all: boolean): void {
    const isOpening = this.#batches.openings();
    const minute = this.#minuteNow();
    for (const [key, open] of this.#open) {
      const { tally } = open;
      const isOver = all || !tally.isOfMinute || open.minute !== minute;
      if (!isOpening(tally) || !(isOver || !open.isBegun)) continue;
      const draft = tally.take(new Date(this.#clock.now()).toISOString());
      if (draft !== null) this.#batches.put(tally, draft);
      open.isBegun = true;
      if (isOver) this.#open.delete(key);
    }
  }
}
