import { LRUCache } from "lru-cache";
import type { Plan } from "../../domain/account/plans.ts";
import { DAY_MS, dayIn } from "../../domain/calendar.ts";
import type { Clock } from "../../domain/ports/clock.ts";
import type { Randomness } from "../../domain/ports/randomness.ts";
import { randomId } from "../../infra/crypto/ids.ts";
import { NO_TRACE } from "../streams/envelope.ts";
import type { OrPromise } from "../streams/or-promise.ts";
import type { Ledgers } from "./ledgers.ts";
import { LEASE_PREFIX } from "./place-status.ts";

/**
 * `stored` counts receivers' answers and the forms that voters saw, too. After all of `refused`, a recorded refusal takes 1
 * of `refused_records`.
 */
type AllowanceKind = "stored" | "refused" | "refused_records" | "session_changes" | "key_changes" | "agent_changes";

/** `giveBack` returns taken bytes for which nothing was stored, by default all of them. It may be called once. */
export type TakenBytes = { giveBack(bytes?: number): void };

export type ByteAllowances = {
  /** Takes bytes of the account's allowance of this day (UTC); null if too few are left. */
  take(account: string, kind: AllowanceKind, bytes: number): Promise<TakenBytes | null>;
  /** Takes bytes that this process has leased. If they are too few, returns null and leases more meanwhile. */
  takeAtHand(account: string, kind: AllowanceKind, bytes: number): TakenBytes | null;
  /** False if this process knows that `take` would return null, so that the request ends early. */
  hasRoom(account: string, kind: AllowanceKind, bytes: number): Promise<boolean>;
};

export type ByteAllowancesDeps = {
  readonly ledgers: Pick<Ledgers, "reserve" | "settle">;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly accountOf: (account: string) => OrPromise<{ readonly plan: Plan }>;
  readonly onError: (error: unknown) => void;
};

/** A lease lets a thousand small bodies cost one append. A process that ends loses the rest of its lease. */
const LEASE_BYTES_MAX = 1_048_576;
/** A lease is at most one of so many parts of the day's allowance, so that several nodes leave little of it unused. */
const LEASES_A_DAY_MIN = 64;
const ACCOUNTS_MAX = 20_000;

const LIMIT_OF: Readonly<Record<AllowanceKind, (plan: Plan) => number>> = {
  stored: (plan) => plan.storedBytesDay,
  refused: (plan) => plan.refusedBytesDay,
  refused_records: (plan) => plan.refusedRecordsDay,
  session_changes: (plan) => plan.changeBytesDay,
  key_changes: (plan) => plan.changeBytesDay,
  agent_changes: (plan) => plan.changeBytesDay,
};

class Allowance {
  /** UTC, in days since 1970. */
  readonly day: number;
  readonly #deps: ByteAllowancesDeps;
  readonly #account: string;
  readonly #kind: AllowanceKind;
  #room = 0;
  #lastAnswer: { readonly limit: number; readonly left: number } | null = null;
  #leasing: Promise<void> | null = null;

  constructor(deps: ByteAllowancesDeps, account: string, kind: AllowanceKind, day: number) {
    this.#deps = deps;
    this.#account = account;
    this.#kind = kind;
    this.day = day;
  }

  takeAtHand(bytes: number): TakenBytes | null {
    if (this.#room < bytes) return null;
    this.#room -= bytes;
    return {
      giveBack: (some = bytes) => {
        this.#room += some;
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
    const missing = bytes - this.#room;
    if (missing <= 0 || this.#lastAnswer === null || missing <= this.#lastAnswer.left) return true;
    return missing <= this.#leftOf(await this.#limit());
  }

  async refill(bytes: number): Promise<boolean> {
    const limit = await this.#limit();
    const missing = bytes - this.#room;
    if (missing <= 0) return true;
    if (missing > this.#leftOf(limit)) return false;
    // All callers wait for one lease; a caller that finds too little of it left asks again.
    this.#leasing ??= this.#lease(missing, limit).finally(() => {
      this.#leasing = null;
    });
    await this.#leasing;
    return true;
  }

  async #limit(): Promise<number> {
    return LIMIT_OF[this.#kind]((await this.#deps.accountOf(this.#account)).plan);
  }

  #leftOf(limit: number): number {
    return this.#lastAnswer?.limit === limit ? this.#lastAnswer.left : limit;
  }

  async #lease(missing: number, limit: number): Promise<void> {
    const usual = Math.min(LEASE_BYTES_MAX, Math.floor(limit / LEASES_A_DAY_MIN));
    const bytes = Math.min(Math.max(missing, usual), this.#leftOf(limit));
    if (bytes <= 0) return;
    const { ledgers, randomness } = this.#deps;
    const stream = `ledger-${this.#account}-${this.#kind}-${dayIn("UTC", this.day * DAY_MS)}`;
    const name = randomId(LEASE_PREFIX, randomness);
    const reservation = await ledgers.reserve({
      stream,
      account: this.#account,
      event: name,
      limits: { count: limit },
      trace: NO_TRACE,
      places: bytes,
    });
    const { granted, count } = reservation.answer;
    const left = count === undefined ? 0 : count.limit - count.used;
    this.#lastAnswer = { limit, left: granted ? left - bytes : left };
    if (!granted) return;
    this.#room += bytes;
    ledgers.settle(reservation, 0);
  }
}

export const byteAllowances = (deps: ByteAllowancesDeps): ByteAllowances => {
  const allowances = new LRUCache<string, Map<AllowanceKind, Allowance>>({ max: ACCOUNTS_MAX });

  const allowanceOf = (account: string, kind: AllowanceKind): Allowance => {
    const day = Math.floor(deps.clock.now() / DAY_MS);
    const ofAccount = allowances.get(account);
    const known = ofAccount?.get(kind);
    if (known?.day === day) return known;
    const allowance = new Allowance(deps, account, kind, day);
    if (ofAccount === undefined) allowances.set(account, new Map([[kind, allowance]]));
    else ofAccount.set(kind, allowance);
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
