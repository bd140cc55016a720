import type { JsonObject } from "../../../domain/json.ts";
import type { LedgerEvent } from "../../../domain/ledger/events.ts";
import { emptyLedger, evolveLedger, type Ledger } from "../../../domain/ledger/state.ts";
import { type Answer, INDEXES_MAX, IndexList } from "./answer.ts";
import { type Coverage, judged } from "./coverage.ts";
import type { Terms } from "./every.ts";
import { isIn } from "./filter.ts";
import type { Leaf } from "./leaf.ts";
import { type Question, Unanswerable } from "./question.ts";

const DAY_LEDGER = /^ledger-(pol_[a-z2-7]+)-(\d{4}-\d{2}-\d{2})$/;

const LEDGER_TYPES = [
  "LedgerOpened",
  "Reserved",
  "Settled",
  "Charged",
  "Released",
  "BudgetThresholdReached",
  "LedgerClosed",
];

type Followed = {
  readonly policy: string;
  readonly day: string;
  /** Null once the ledger is closed and nothing in it is open: no reservation can follow. */
  ledger: Ledger | null;
  /** What the ledger takes of the key budget. */
  size: number;
  overrun: number;
};

const sizeOf = ({ open, recent, charged }: Ledger): number => open.size + recent.size + charged.size;

/**
 * Folds the ledger of each policy and day, as the service does when it decides, and asks at each reservation whether
 * what is reserved and spent by then is within the budget. A cost that a receiver reports later may be higher than what
 * was reserved for it: that is counted as overrun, because no gate could know it.
 */
class BudgetQuestion implements Question {
  readonly types: ReadonlySet<string> = new Set(LEDGER_TYPES);
  readonly #terms: Terms;
  readonly #indexes = new IndexList();
  readonly #ledgers = new Map<string, Followed>();
  readonly #cutOff = new Set<string>();
  readonly #overFirst: JsonObject[] = [];
  #reservations = 0;
  #over = 0;

  constructor(terms: Terms) {
    this.#terms = terms;
  }

  see(leaf: Leaf): void {
    const [, policy, day] = DAY_LEDGER.exec(leaf.stream) ?? [];
    if (policy === undefined || day === undefined) return;
    const followed = this.#follow(leaf, policy, day);
    if (followed?.ledger == null) return;
    const { ledger } = followed;
    const before = { budget: ledger.budget, used: ledger.reserved + ledger.settled };
    try {
      // The verifier knows a record's type, not its form, so a fold may fail on data of another form.
      evolveLedger(ledger, { type: leaf.type, data: leaf.data } as unknown as LedgerEvent, Number(leaf.revision));
    } catch (error) {
      throw new Unanswerable(`record ${leaf.index} has not the form of a ledger's: ${String(error)}`);
    }
    if (leaf.type === "Reserved") this.#check(leaf, followed, before);
    followed.overrun = ledger.overrun;
    const size = sizeOf(ledger);
    const isOver = ledger.closed && ledger.open.size === 0;
    const next = isOver ? 0 : size;
    if (next > followed.size) this.#terms.keys.take(next - followed.size);
    else this.#terms.keys.give(followed.size - next);
    followed.size = next;
    if (isOver) followed.ledger = null;
  }

  answer(coverage: Coverage): Answer {
    const inExport = this.#reservations === 0 ? null : this.#over === 0;
    const ledgers = [...this.#ledgers.values()];
    const overrun = ledgers.filter((it) => it.overrun > 0);
    const shown = overrun
      .slice(0, INDEXES_MAX)
      .map(({ policy, day, overrun: eur }) => ({ policy, day, micro_eur: eur }));
    return {
      ...judged({ inExport, isFinal: this.#over > 0, needsAll: this.#cutOff.size > 0 }, coverage),
      unanswered: null,
      result: {
        count: this.#reservations,
        ledgers: ledgers.length,
        over: this.#over,
        over_first: this.#overFirst,
        overrun: overrun.length,
        overrun_first: shown,
        not_followed: this.#cutOff.size,
      },
      rests_on: this.#indexes.restsOn(),
    };
  }

  /** Undefined for a ledger that begins before the export: its sums are not known. */
  #follow({ stream, revision }: Leaf, policy: string, day: string): Followed | undefined {
    const known = this.#ledgers.get(stream);
    if (known !== undefined) return known;
    if (revision !== 0 && !this.#terms.isWhole) {
      if (!this.#cutOff.has(stream)) this.#terms.keys.take();
      this.#cutOff.add(stream);
      return undefined;
    }
    this.#terms.keys.take();
    const followed = { policy, day, ledger: emptyLedger(), size: 0, overrun: 0 };
    this.#ledgers.set(stream, followed);
    return followed;
  }

  #check(leaf: Leaf, { policy, day, ledger }: Followed, before: { budget: number | null; used: number }): void {
    if (!isIn(this.#terms.period, leaf) || ledger === null || ledger.budget === null) return;
    this.#reservations += 1;
    this.#indexes.add(leaf.index);
    const used = ledger.reserved + ledger.settled;
    // One record may hold reservations that were decided before and after a change of the budget.
    const limit = Math.max(ledger.budget, before.budget ?? 0);
    if (used <= limit || used <= before.used) return;
    this.#over += 1;
    if (this.#overFirst.length >= INDEXES_MAX) return;
    this.#overFirst.push({ index: leaf.index, policy, day, used_micro_eur: used, limit_micro_eur: limit });
  }
}

export const budgetQuestion = (terms: Terms): Question => new BudgetQuestion(terms);
