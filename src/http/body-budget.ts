import { LRUCache } from "lru-cache";
import type { Clock } from "../../domain/ports/clock.ts";
import { Shares } from "../../infra/shares.ts";

export type BodySender = {
  readonly account: string;
  readonly source: string;
  readonly network: string;
};

export type BudgetedBody = {
  /** False if there is no room for `bytes` more, or if this body has lost its room to another body. */
  take(bytes: number): boolean;
  enter(): boolean;
  complete(): void;
  verified(): void;
  readonly party: () => string;
  /** True if a body from the same network was verified for the same source within `VERIFIED_FOR_MS`. */
  readonly isTrusted: () => boolean;
  leave(): void;
};

const VERIFIED_FOR_MS = 60 * 60_000;
const VERIFIED_MAX = 20_000;
/** A trusted body that arrives for longer than this (1 MB at 500 kB/s) can lose its room even to an untrusted body. */
const SLOW_MS = 2_000;

type Held = {
  parties: readonly string[];
  isTrusted: boolean;
  isArriving: boolean;
  isRefused: boolean;
  bytes: number;
  places: number;
  startedAt: number;
  readonly drop: () => void;
};

/**
 * Shares of the memory and the places that webhook bodies may take. An untrusted body counts for its network and its
 * source, as sending to a source needs no secret. Where there is no room, a body that is still arriving loses its room
 * to another: untrusted bodies first, then those of the party with the most bytes, then the oldest.
 */
export class BodyBudget {
  readonly #bytes: Shares;
  readonly #places: Shares;
  readonly #clock: Clock;
  readonly #arriving = new Set<Held>();
  readonly #verifiedAt = new LRUCache<string, number>({ max: VERIFIED_MAX });

  constructor(limits: { readonly bytes: number; readonly requests: number }, clock: Clock) {
    this.#bytes = new Shares(limits.bytes);
    this.#places = new Shares(limits.requests);
    this.#clock = clock;
  }

  get bytes(): number {
    return this.#bytes.total;
  }

  get requests(): number {
    return this.#places.total;
  }

  begin(sender: BodySender, drop: () => void): BudgetedBody {
    const now = this.#clock.now();
    const isTrusted = this.#isVerified(sender, now);
    const held: Held = {
      parties: isTrusted ? trusted(sender) : untrusted(sender),
      isTrusted,
      isArriving: true,
      isRefused: false,
      bytes: 0,
      places: 0,
      startedAt: now,
      drop,
    };
    return {
      take: (bytes) => {
        if (!held.isRefused) held.isRefused = !this.#take(held, bytes);
        return !held.isRefused;
      },
      enter: () => {
        if (held.isRefused || !this.#places.take(held.parties, 1)) return false;
        held.places = 1;
        return true;
      },
      complete: () => {
        held.isArriving = false;
        this.#arriving.delete(held);
      },
      verified: () => {
        this.#remember(sender);
        if (held.isTrusted) return;
        held.isTrusted = true;
        const parties = trusted(sender);
        this.#bytes.move(held.parties, parties, held.bytes);
        this.#places.move(held.parties, parties, held.places);
        held.parties = parties;
      },
      party: () => held.parties[0] ?? "",
      isTrusted: () => held.isTrusted,
      leave: () => this.#giveBack(held),
    };
  }

  #take(held: Held, bytes: number): boolean {
    if (held.bytes === 0) held.startedAt = this.#clock.now();
    while (!this.#bytes.take(held.parties, bytes)) {
      const other = this.#loser(held, bytes);
      if (other === null) return false;
      other.isRefused = true;
      this.#giveBack(other);
      other.drop();
    }
    held.bytes += bytes;
    if (held.isArriving) this.#arriving.add(held);
    return true;
  }

  #giveBack(held: Held): void {
    this.#arriving.delete(held);
    this.#bytes.give(held.parties, held.bytes);
    this.#places.give(held.parties, held.places);
    held.bytes = 0;
    held.places = 0;
  }

  #weight({ parties }: Held): number {
    return Math.max(...parties.map((party) => this.#bytes.of(party)));
  }

  #loser(asking: Held, bytes: number): Held | null {
    const own = this.#weight(asking) + bytes;
    const slowSince = this.#clock.now() - SLOW_MS;
    let loser: Held | null = null;
    let loserWeight = 0;
    for (const other of this.#arriving) {
      if (other === asking || other.bytes === 0) continue;
      const weight = this.#weight(other);
      if (!this.#mayLose(other, asking, { weight, own, slowSince })) continue;
      const isWorse = loser === null || (loser.isTrusted === other.isTrusted ? weight > loserWeight : loser.isTrusted);
      if (!isWorse) continue;
      loser = other;
      loserWeight = weight;
    }
    return loser;
  }

  #mayLose(
    other: Held,
    asking: Held,
    { weight, own, slowSince }: { readonly weight: number; readonly own: number; readonly slowSince: number },
  ): boolean {
    if (asking.isTrusted && !other.isTrusted) return true;
    if (!asking.isTrusted && other.isTrusted && other.startedAt > slowSince) return false;
    const isSameParty = other.parties.some((party) => asking.parties.includes(party));
    // Of two bodies with equal claims the newer one gets the room, because the older one is arriving more slowly.
    return weight > own || ((isSameParty || weight === own) && other.startedAt <= asking.startedAt);
  }

  #isVerified(sender: BodySender, now: number): boolean {
    const at = this.#verifiedAt.peek(pairOf(sender));
    return at !== undefined && now - at <= VERIFIED_FOR_MS;
  }

  #remember(sender: BodySender): void {
    this.#verifiedAt.set(pairOf(sender), this.#clock.now());
  }
}

const pairOf = ({ source, network }: BodySender): string => `${source} ${network}`;
const trusted = ({ account }: BodySender): readonly string[] => [`account ${account}`];
const untrusted = ({ source, network }: BodySender): readonly string[] => [`network ${network}`, `source ${source}`];
