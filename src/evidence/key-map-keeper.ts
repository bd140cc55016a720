import type { KeyMapReads } from "../../domain/ports/key-map-store.ts";
import { wakeablePause } from "../following/wakeable-pause.ts";
import type { KeyMaps, MapCandidate } from "./key-maps.ts";

/** The name under which failures of the key maps are reported. */
export const KEY_MAPS = "key maps";

export type KeyMapTimes = { readonly lookMs: number; readonly sealAfterMs: number; readonly retryMs: number };

/** A map has to be sealed at most 10 s after a record that it does not cover. */
export const KEY_MAP_TIMES: KeyMapTimes = {
  lookMs: 1_000,
  /** Counted from the look that found the record. What is left of the 10 s is for the fold, the map and the append. */
  sealAfterMs: 6_000,
  retryMs: 5_000,
};

const ACCOUNTS_MAX = 10_000;
/** A keeper that has nothing to do looks this rarely (ms), in case it missed that records were folded. */
const IDLE_MS = 30_000;

export type KeyMapKeeperOptions = {
  readonly onCandidate: (candidate: MapCandidate) => void;
  readonly onError: (error: unknown, retryInMs: number) => void;
  readonly times?: KeyMapTimes;
  readonly now?: () => number;
};

/** Brings the maps to the seals in the log, and offers those that are due to be sealed. */
export class KeyMapKeeper {
  readonly #store: Pick<KeyMapReads, "unmapped">;
  readonly #maps: Pick<KeyMaps, "catchUp" | "candidate">;
  readonly #options: KeyMapKeeperOptions;
  readonly #times: KeyMapTimes;
  readonly #now: () => number;
  /** Between two looks, which is not ended by records that are folded; and until there is something to do. */
  readonly #between = wakeablePause();
  readonly #rest = wakeablePause();
  /** When an account was first seen with a record that no map covers, or when its map was last offered. */
  readonly #since = new Map<string, number>();
  #isStopping = false;
  #running: Promise<void> = Promise.resolve();

  constructor(
    store: Pick<KeyMapReads, "unmapped">,
    maps: Pick<KeyMaps, "catchUp" | "candidate">,
    options: KeyMapKeeperOptions,
  ) {
    this.#store = store;
    this.#maps = maps;
    this.#options = options;
    this.#times = options.times ?? KEY_MAP_TIMES;
    this.#now = options.now ?? (() => performance.now());
  }

  start(): void {
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#between.wake();
    this.#rest.wake();
    await this.#running;
  }

  /** Records were folded. */
  wake(): void {
    this.#rest.wake();
  }

  async look(): Promise<void> {
    await this.#maps.catchUp(() => this.#isStopping);
    const unmapped = await this.#store.unmapped(ACCOUNTS_MAX);
    const accounts = new Set(unmapped.map(({ account }) => account));
    for (const account of this.#since.keys()) if (!accounts.has(account)) this.#since.delete(account);
    for (const { account, size } of unmapped) {
      if (this.#isStopping) return;
      const since = this.#since.get(account);
      if (since === undefined) this.#since.set(account, this.#now());
      else if (this.#now() - since >= this.#times.sealAfterMs) await this.#offer(account, size);
    }
  }

  async #offer(account: string, size: number): Promise<void> {
    const candidate = await this.#maps.candidate(account, size);
    // If the append fails, or another node's seal is late, the map is offered again.
    this.#since.set(account, this.#now());
    if (candidate !== null) this.#options.onCandidate(candidate);
  }

  async #run(): Promise<void> {
    while (!this.#isStopping) {
      let pauseMs = this.#times.lookMs;
      let hasFailed = false;
      try {
        await this.look();
      } catch (error) {
        hasFailed = true;
        pauseMs = this.#times.retryMs;
        this.#options.onError(error, pauseMs);
      }
      if (!this.#isStopping) await this.#between.pause(pauseMs);
      const isDone = !hasFailed && this.#since.size === 0;
      if (isDone && !this.#isStopping) await this.#rest.pause(IDLE_MS);
    }
  }
}
