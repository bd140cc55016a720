import type { LedgerCommand } from "../../domain/ledger/commands.ts";
import type { Ledger, Place } from "../../domain/ledger/state.ts";
import type { Clock } from "../../domain/ports/clock.ts";

/**
 * "free": the event was not admitted, and no request with this place can admit it any more. "spent": it was admitted and
 * spent the reserved or the given cost (micro-euros). "open": it is being decided. "kept": its end settles the place.
 */
export type PlaceStatus = "free" | "spent" | "open" | "kept" | { readonly spent: number };

/** After this time, a place without an event belongs to a request that died. */
export const ORPHAN_AGE_MS = 30_000;
/** A full ledger searches at most this often: each place that is held for long costs a read. */
const SEARCH_GAP_MS = 5_000;
/** A place that was found to be rightful is skipped by sweeps for this time: a source's slot is held for years. */
const HELD_MS = 60 * 60 * 1_000;
/** A ledger may have thousands of places of held or retried events, and each look-up is a read or two. */
const LOOKUPS_AT_ONCE = 16;

/** A place to be looked up. The result holds for the event's reservation `upTo` and for older ones. */
export type Suspect = { readonly event: string; readonly upTo: number };

type RightfulHolder = { readonly at: number; readonly isKept: boolean; readonly upTo: number };

export type OrphanDeps = {
  readonly clock: Clock;
  readonly placeStatus: (account: string, event: string, stream: string) => Promise<PlaceStatus>;
  /** The age at which places from before this process are suspected, in ms: 0 if no other node can hold one. */
  readonly orphanAgeMs: number;
  readonly startedAt: number;
};

const newestOf = ({ reservations }: Place): number => reservations.at(-1) ?? 0;

export const suspectOf = (event: string, place: Place): Suspect => ({ event, upTo: newestOf(place) });

export class OrphanedPlaces {
  readonly #stream: string;
  readonly #account: string;
  readonly #deps: OrphanDeps;
  readonly #rightful = new Map<string, RightfulHolder>();
  #searchedAt = Number.NEGATIVE_INFINITY;

  constructor(stream: string, account: string, deps: OrphanDeps) {
    this.#stream = stream;
    this.#account = account;
    this.#deps = deps;
  }

  get size(): number {
    return this.#rightful.size;
  }

  whenFull(ledger: Ledger): readonly Suspect[] {
    const now = this.#deps.clock.now();
    const suspects = this.#suspects(ledger, ({ isKept }) => isKept);
    // The difference is absolute, so that a clock set back does not delay the search for longer.
    if (Math.abs(now - this.#searchedAt) < SEARCH_GAP_MS || suspects.length === 0) return [];
    this.#searchedAt = now;
    return suspects;
  }

  forSweep(ledger: Ledger): readonly Suspect[] {
    for (const event of this.#rightful.keys()) if (!ledger.open.has(event)) this.#rightful.delete(event);
    const checkBefore = this.#deps.clock.now() - HELD_MS;
    return this.#suspects(ledger, ({ at }) => at > checkBefore);
  }

  async resolve(suspects: readonly Suspect[]): Promise<readonly LedgerCommand[]> {
    const commands: LedgerCommand[] = [];
    const one = async ({ event, upTo }: Suspect): Promise<void> => {
      const status = await this.#deps.placeStatus(this.#account, event, this.#stream);
      if (status === "open" || status === "kept") {
        this.#rightful.set(event, { at: this.#deps.clock.now(), isKept: status === "kept", upTo });
      } else if (status === "free") commands.push({ type: "Release", event, upTo });
      // Without a cost, a place costs what it has reserved by then: a later reservation may have raised that.
      else if (status === "spent") commands.push({ type: "Settle", event, upTo });
      else commands.push({ type: "Settle", event, upTo, cost: status.spent });
    };
    for (let from = 0; from < suspects.length; from += LOOKUPS_AT_ONCE) {
      await Promise.all(suspects.slice(from, from + LOOKUPS_AT_ONCE).map(one));
    }
    return commands;
  }

  #suspects(ledger: Ledger, isRightful: (holder: RightfulHolder) => boolean): readonly Suspect[] {
    const { clock, startedAt, orphanAgeMs } = this.#deps;
    const now = clock.now();
    // Younger places may belong to requests of this process that are under way.
    const reservedBefore = Math.max(now - ORPHAN_AGE_MS, Math.min(startedAt, now - orphanAgeMs));
    const suspects: Suspect[] = [];
    for (const [event, place] of ledger.open) {
      if (place.at > reservedBefore) continue;
      const holder = this.#rightful.get(event);
      if (holder !== undefined && holder.upTo >= newestOf(place) && isRightful(holder)) continue;
      suspects.push(suspectOf(event, place));
    }
    return suspects;
  }
}
