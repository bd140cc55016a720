import type { Plan } from "../../domain/account/plans.ts";
import { dayIn } from "../../domain/calendar.ts";
import type { Clock } from "../../domain/ports/clock.ts";
import type { Randomness } from "../../domain/ports/randomness.ts";
import { randomId } from "../../infra/crypto/ids.ts";
import { NO_TRACE } from "../streams/envelope.ts";
import type { Ledgers } from "./ledgers.ts";
import { LEASE_PREFIX } from "./place-status.ts";

/** "stored": what admitted and held requests store, and what receivers answer. "refused": what is stored of refused
 * ones. "refused_records": refused ones beyond that which have a record of their own, each as one byte. */
export type AllowanceKind = "stored" | "refused" | "refused_records";

/** Bytes that were taken. They are given back, all or some of them and once, if nothing was stored for them. */
export type TakenBytes = { giveBack(bytes?: number): void };

export type ByteAllowances = {
  /**
   * Takes bytes of the account's allowance of this day (UTC); null if the allowance has not so many left. Rejects with the
   * log's errors.
   */
  take(account: string, kind: AllowanceKind, bytes: number): Promise<TakenBytes | null>;
  /** Takes bytes of a lease that this process already has; null if it has too few. It then takes a lease in the background. */
  takeAtHand(account: string, kind: AllowanceKind, bytes: number): TakenBytes | null;
  /** False where this process knows that `take` would answer null, so that nothing else has to be done for the request. */
  hasRoom(account: string, kind: AllowanceKind, bytes: number): Promise<boolean>;
};

export type ByteAllowancesDeps = {
  readonly ledgers: Pick<Ledgers, "reserve" | "settle">;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly accountOf: (account: string) => Promise<{ readonly plan: Plan }>;
  /** Is told of each failure in the background; the next request tries again. */
  readonly onError: (error: unknown) => void;
};

/** A process takes so much at once, so that a thousand small bodies cost one append. A process that ends loses the rest. */
const LEASE_BYTES_MAX = 1_048_576;
/** A lease is at most this part of the day's allowance, so that several nodes leave little unused at its end. */
const LEASES_A_DAY_MIN = 64;
/** Accounts whose leases are kept in memory; one that is forgotten loses the rest of its lease. */
const ACCOUNTS_MAX = 20_000;

const LIMIT_OF: Readonly<Record<AllowanceKind, (plan: Plan) => number>> = {
  stored: (plan) => plan.storedBytesDay,
  refused: (plan) => plan.refusedBytesDay,
  refused_records: (plan) => plan.refusedRecordsDay,
};

const KINDS = Object.keys(LIMIT_OF).length;

/** The allowance of one account on one day. Every lease is a place of that size in the ledger of the day, spent at once. */
class Allowance {
  readonly day: string;
  private readonly deps: ByteAllowancesDeps;
  private readonly account: string;
  private readonly kind: AllowanceKind;
  /** What this process has leased and not yet used. */
  private room = 0;
  /** What the ledger had left, of `limit`, when it was last asked. It never grows, because leases are not given back. */
  private known: { readonly limit: number; readonly left: number } | null = null;
  private asking: Promise<void> | null = null;

  constructor(deps: ByteAllowancesDeps, account: string, kind: AllowanceKind, day: string) {
    this.deps = deps;
    this.account = account;
    this.kind = kind;
    this.day = day;
  }

  takeAtHand(bytes: number): TakenBytes | null {
    if (this.room < bytes) return null;
    this.room -= bytes;
    return {
      giveBack: (some = bytes) => {
        this.room += some;
      },
    };
  }

  async take(bytes: number): Promise<TakenBytes | null> {
    for (;;) {
      const taken = this.takeAtHand(bytes);
      if (taken !== null) return taken;
      if (!(await this.refill(bytes))) return null;
    }
  }

  async hasRoom(bytes: number): Promise<boolean> {
    const missing = bytes - this.room;
    // The plan is asked only where the answer depends on it.
    if (missing <= 0 || this.known === null || missing <= this.known.left) return true;
    return missing <= this.leftOf(await this.limit());
  }

  /** Leases what is missing for so many bytes; false if the allowance has not so much left. */
  async refill(bytes: number): Promise<boolean> {
    const limit = await this.limit();
    const missing = bytes - this.room;
    if (missing <= 0) return true;
    if (missing > this.leftOf(limit)) return false;
    // One lease is for all that wait for it: who finds too little of it left asks again.
    this.asking ??= this.lease(missing, limit).finally(() => {
      this.asking = null;
    });
    await this.asking;
    return true;
  }

  private async limit(): Promise<number> {
    return LIMIT_OF[this.kind]((await this.deps.accountOf(this.account)).plan);
  }

  private leftOf(limit: number): number {
    return this.known?.limit === limit ? this.known.left : limit;
  }

  private async lease(missing: number, limit: number): Promise<void> {
    const usual = Math.min(LEASE_BYTES_MAX, Math.floor(limit / LEASES_A_DAY_MIN));
    const bytes = Math.min(Math.max(missing, usual), this.leftOf(limit));
    if (bytes <= 0) return;
    const { ledgers, randomness } = this.deps;
    const stream = `ledger-${this.account}-${this.kind}-${this.day}`;
    const name = randomId(LEASE_PREFIX, randomness);
    const reservation = await ledgers.reserve(stream, this.account, name, { count: limit }, NO_TRACE, bytes);
    const { granted, count } = reservation.answer;
    const left = count === undefined ? 0 : count.limit - count.used;
    this.known = { limit, left: granted ? left - bytes : left };
    if (!granted) return;
    this.room += bytes;
    ledgers.settle(reservation, 0, NO_TRACE);
  }
}

/**
 * How many bytes of bodies an account may have stored in a day, exactly on any number of nodes: a process uses only what it
 * has leased from the account's ledger of the day.
 */
export const byteAllowances = (deps: ByteAllowancesDeps): ByteAllowances => {
  /** The least recently used comes first. */
  const allowances = new Map<string, Allowance>();

  const allowanceOf = (account: string, kind: AllowanceKind): Allowance => {
    const key = `${kind} ${account}`;
    const day = dayIn("UTC", deps.clock.now());
    const there = allowances.get(key);
    const allowance = there?.day === day ? there : new Allowance(deps, account, kind, day);
    allowances.delete(key);
    allowances.set(key, allowance);
    if (allowances.size > KINDS * ACCOUNTS_MAX) {
      const [oldest] = allowances.keys();
      if (oldest !== undefined) allowances.delete(oldest);
    }
    return allowance;
  };

  return {
    take: (account, kind, bytes) => allowanceOf(account, kind).take(bytes),
    hasRoom: (account, kind, bytes) => allowanceOf(account, kind).hasRoom(bytes),
    takeAtHand(account, kind, bytes) {
      const allowance = allowanceOf(account, kind);
      const taken = allowance.takeAtHand(bytes);
      if (taken === null) allowance.refill(bytes).catch(deps.onError);
      return taken;
    },
  };
};
