import { LRUCache } from "lru-cache";
import { daysLater } from "../../domain/calendar.ts";
import type { Trace } from "../streams/envelope.ts";
import type { LedgersInMemory } from "./ledgers-in-memory.ts";

/** `day`: YYYY-MM-DD in the account's time zone. */
export const dayLedger = (policyId: string, day: string): string => `ledger-${policyId}-${day}`;

type PolicyOfAccount = { readonly account: string; readonly id: string };
type CurrentDay = { day: string; rolling: Promise<void> | null };

const POLICIES_MAX = 50_000;

export class PolicyDays {
  readonly #ledgers: LedgersInMemory;
  readonly #days = new LRUCache<string, CurrentDay>({ max: POLICIES_MAX });

  constructor(ledgers: LedgersInMemory) {
    this.#ledgers = ledgers;
  }

  /** Begins `day` unless it or a later one has begun, and returns the day that has begun. */
  async enter(policy: PolicyOfAccount, day: string, trace: Trace): Promise<string> {
    const current = this.#currentOf(policy.id);
    while (current.day < day) {
      current.rolling ??= this.#roll(policy, day, trace)
        .then(() => {
          current.day = day;
        })
        .finally(() => {
          current.rolling = null;
        });
      await current.rolling;
    }
    return current.day;
  }

  /** The policy's day; null if another one has still to be entered. */
  entered({ id }: Pick<PolicyOfAccount, "id">, day: string): string | null {
    const { day: current } = this.#currentOf(id);
    return current < day ? null : current;
  }

  /** The old day is closed before its last minute's entries are carried over, so the rate holds over midnight. */
  async #roll({ account, id }: PolicyOfAccount, day: string, trace: Trace): Promise<void> {
    const carried = await this.#ledgers.get(dayLedger(id, daysLater(day, -1)), account).close(trace);
    await this.#ledgers.get(dayLedger(id, day), account).open(carried, trace);
  }

  #currentOf(policyId: string): CurrentDay {
    const known = this.#days.get(policyId);
    if (known !== undefined) return known;
    const current = { day: "", rolling: null };
    this.#days.set(policyId, current);
    return current;
  }
}
