import { LRUCache } from "lru-cache";
import type { Clock } from "../../domain/ports/clock.ts";
import { Shares } from "../../infra/shares.ts";

export type BodySender = {
  readonly account: string;
  readonly source: string;
  /** As `networkOf` writes it. */
  readonly network: string;
};

/** One body from its first byte until its request is answered. */
export type BudgetedBody = {
  /** False: there is no room, now or at an earlier call, or the room was given to another body. */
  take(bytes: number): boolean;
  /** A place among the requests that are being decided. */
  enter(): boolean;
  /** All of it has come: nobody else gets its room any more. */
  complete(): void;
  /** Its signature holds. */
  verified(): void;
  /** In whose name it is decided: its account once it is trusted, its network before. */
  readonly party: () => string;
  /** The request is answered or its client has gone. */
  leave(): void;
};

/** How long after a verified body the source's bodies from the same network are trusted before they are verified. */
const VERIFIED_FOR_MS = 60 * 60_000;
/** Pairs of source and network; the one that was verified longest ago is forgotten first. */
const VERIFIED_MAX = 20_000;
/** A trusted body that takes longer than this to arrive can lose its room to others: 1 MB at 500 kB/s. */
const SLOW_MS = 2_000;

type Held = {
  /** In whose names its bytes and its place are counted. */
  parties: readonly string[];
  isTrusted: boolean;
  isArriving: boolean;
  isRefused: boolean;
  bytes: number;
  places: number;
  readonly startedAt: number;
  /** Forgets what has come of it. */
  readonly drop: () => void;
};

/**
 * The memory and the places that bodies of webhooks may take, in shares. A body is trusted if a body from the same network was
 * verified for the same source lately; it counts for its account. Any other body counts for its network and for the
 * source that it is addressed to, since anybody can send to a source without knowing its secret. Where there is no room,
 * a body that is still arriving loses its room to the newer one: an untrusted body first, that of the largest party first,
 * and of these the oldest.
 */
export class BodyBudget {
  readonly #bytes: Shares;
  readonly #places: Shares;
  readonly #clock: Clock;
  /** In the order in which they began. */
  readonly #arriving = new Set<Held>();
  readonly #verifiedAt = new LRUCache<string, number>({ max: VERIFIED_MAX });

  constructor(limits: { readonly bytes: number; readonly requests: number }, clock: Clock) {
    this.#bytes = new Shares(limits.bytes);
    this.#places = new Shares(limits.requests);
    this.#clock = clock;
  }

  /** Bytes of all bodies together. */
  get bytes(): number {
    return this.#bytes.total;
  }

  get requests(): number {
    return this.#places.total;
  }

  /** `drop` is called when its room is given to another body. */
  begin(sender: BodySender, drop: () => void): BudgetedBody {
    const startedAt = this.#clock.now();
    const isTrusted = this.#isVerified(sender, startedAt);
    const held: Held = {
      parties: isTrusted ? trusted(sender) : untrusted(sender),
      isTrusted,
      isArriving: true,
      isRefused: false,
      bytes: 0,
      places: 0,
      startedAt,
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
      leave: () => this.#giveBack(held),
    };
  }

  #take(held: Held, bytes: number): boolean {
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

  /** The body that has to give its room to `asking`; null if there is none. */
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
    // Of two bodies in the same position the newer one gets the room: what arrives quickly is newer than what does not.
    return weight > own || ((isSameParty || weight === own) && other.startedAt <= asking.startedAt);
  }

  #isVerified(sender: BodySender, now: number): boolean {
    const at = this.#verifiedAt.get(pairOf(sender));
    return at !== undefined && now - at <= VERIFIED_FOR_MS;
  }

  #remember(sender: BodySender): void {
    this.#verifiedAt.set(pairOf(sender), this.#clock.now());
  }
}

const pairOf = ({ source, network }: BodySender): string => `${source} ${network}`;
const trusted = ({ account }: BodySender): readonly string[] => [`account ${account}`];
const untrusted = ({ source, network }: BodySender): readonly string[] => [`network ${network}`, `source ${source}`];
