import { type LedgerDeps, LedgerStream } from "./ledger-stream.ts";

export type LedgerMemory = {
  readonly ledgersMax: number;
  /** Places and names of all ledgers together, about 250 bytes each. */
  readonly entriesMax: number;
};

/** Ledgers that one call of `get` may drop, or skip because they are busy; the next calls continue. */
const DROPPED_AT_ONCE_MAX = 16;

type InMemory = { readonly ledger: LedgerStream; size: number };

export class LedgersInMemory {
  readonly #deps: LedgerDeps;
  readonly #limits: LedgerMemory;
  readonly #startedAt: number;
  /** The ledgers in memory by their streams, the least recently used first. */
  readonly #streams = new Map<string, InMemory>();
  readonly #background = new Set<Promise<unknown>>();
  #entries = 0;

  constructor(deps: LedgerDeps, limits: LedgerMemory) {
    this.#deps = deps;
    this.#limits = limits;
    this.#startedAt = deps.clock.now();
  }

  get(stream: string, account: string): LedgerStream {
    const it = this.#streams.get(stream) ?? this.#create(stream, account);
    this.#streams.delete(stream);
    this.#streams.set(stream, it);
    this.#dropOthers(it);
    return it.ledger;
  }

  readonly later = (work: Promise<unknown>): void => {
    const done = work.catch(this.#deps.onError).finally(() => this.#background.delete(done));
    this.#background.add(done);
  };

  async sweep(isStopping: () => boolean = () => false): Promise<void> {
    for (const { ledger } of [...this.#streams.values()]) {
      if (isStopping()) return;
      if (ledger.hasPlaces()) await ledger.sweep();
    }
  }

  async idle(): Promise<void> {
    for (const { ledger } of this.#streams.values()) this.later(ledger.settled());
    while (this.#background.size > 0) await Promise.all(this.#background);
  }

  #create(stream: string, account: string): InMemory {
    const onSize = (size: number): void => {
      // A ledger that was dropped during its last turn is not counted any more.
      if (this.#streams.get(stream) !== it) return;
      this.#entries += size - it.size;
      it.size = size;
    };
    const deps = { ...this.#deps, startedAt: this.#startedAt, later: this.later, onSize };
    const it = { ledger: new LedgerStream(stream, account, deps), size: 0 };
    return it;
  }

  /** All places are in the log, so a ledger can be dropped while nothing is under way in it. */
  #dropOthers(inUse: InMemory): void {
    let visited = 0;
    for (const [name, it] of this.#streams) {
      const isFull = this.#streams.size > this.#limits.ledgersMax || this.#entries > this.#limits.entriesMax;
      if (!isFull || it === inUse || visited === DROPPED_AT_ONCE_MAX) return;
      visited += 1;
      this.#streams.delete(name);
      if (it.ledger.busy()) this.#streams.set(name, it);
      else this.#entries -= it.size;
    }
  }
}
