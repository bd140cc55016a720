import { matches, type Period } from "./filter.ts";
import { type Bound, compares, type Kept, kept, pointersOf, referred } from "./kept.ts";
import type { Leaf } from "./leaf.ts";
import { isScalar, type Pointer, scalarKey, valueAt } from "./pointer.ts";
import { type Need, SUBJECT } from "./query.ts";
import type { KeyBudget } from "./question.ts";

/** A subject that has all it needs before itself: the indexes of those records are `found`. */
export type Waiting = { readonly subject: Kept; readonly found: readonly number[] };

export type Fulfilled = { readonly subject: Kept; readonly found: readonly number[] };

/** One need, with the records that may fulfil it and the subjects that wait for one, by the value at its key. */
export class Candidates {
  readonly need: Need;
  readonly #pointers: readonly Pointer[];
  readonly #keys: KeyBudget;
  readonly #byKey = new Map<string, Kept[]>();
  /** The records kept for `latest` that do not pass `mustBe`. */
  readonly #refused = new Set<Kept>();
  readonly #waiting = new Map<string, Waiting[]>();

  constructor(need: Need, needs: readonly Need[], keys: KeyBudget) {
    this.need = need;
    this.#pointers = pointersOf(need, needs);
    this.#keys = keys;
  }

  /** In the order of the indexes. */
  before(bound: Bound): readonly Kept[] {
    const value = referred(this.need.match, bound);
    return isScalar(value) ? (this.#byKey.get(scalarKey(value)) ?? []) : [];
  }

  isRefused(record: Kept): boolean {
    return this.#refused.has(record);
  }

  /** False if the subject has no value to match. */
  wait(waiting: Waiting): boolean {
    const value = referred(this.need.match, new Map([[SUBJECT, waiting.subject]]));
    if (!isScalar(value)) return false;
    const key = scalarKey(value);
    this.#keys.take(waiting.subject.weight);
    const known = this.#waiting.get(key);
    if (known === undefined) this.#waiting.set(key, [waiting]);
    else known.push(waiting);
    return true;
  }

  stillWaiting(): readonly Waiting[] {
    return [...this.#waiting.values()].flat();
  }

  /** The subjects for which this record was awaited. */
  fulfil(leaf: Leaf, period: Period): readonly Fulfilled[] {
    const key = this.#keyOf(leaf, period);
    const waiting = key === null ? undefined : this.#waiting.get(key);
    if (key === null || waiting === undefined) return [];
    const record = kept(leaf, this.#pointers);
    const isFound = ({ subject }: Waiting): boolean =>
      this.need.compare.every((it) => compares(record, it, new Map([[SUBJECT, subject]])));
    const left = waiting.filter((it) => !isFound(it));
    if (left.length === 0) this.#waiting.delete(key);
    else this.#waiting.set(key, left);
    return waiting.filter(isFound).map(({ subject, found }) => {
      this.#keys.give(subject.weight);
      return { subject, found: [...found, leaf.index] };
    });
  }

  keep(leaf: Leaf, period: Period): void {
    const key = this.#keyOf(leaf, period);
    if (key === null) return;
    const record = kept(leaf, this.#pointers);
    this.#keys.take(record.weight);
    const known = this.#byKey.get(key);
    if (known === undefined) this.#byKey.set(key, [record]);
    else if (this.need.when === "before") known.push(record);
    else {
      for (const it of known.splice(0, known.length, record)) {
        this.#keys.give(it.weight);
        this.#refused.delete(it);
      }
    }
    const { mustBe } = this.need;
    if (mustBe !== null && !matches(leaf, mustBe, period)) this.#refused.add(record);
  }

  #keyOf(leaf: Leaf, period: Period): string | null {
    if (!matches(leaf, this.need.of, period)) return null;
    const value = valueAt(leaf, this.need.key);
    return isScalar(value) ? scalarKey(value) : null;
  }
}
