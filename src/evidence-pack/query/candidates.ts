import { matches, type Period } from "./filter.ts";
import { type Bound, compares, type Kept, kept, keptIndex, pointersOf, referred } from "./kept.ts";
import type { Leaf } from "./leaf.ts";
import { isScalar, type Pointer, type Scalar, valueAt } from "./pointer.ts";
import { type Need, SUBJECT } from "./query.ts";
import type { KeyBudget } from "./question.ts";

/** A subject that has all it needs before itself: the indexes of those records are `found`. */
export type Waiting = { readonly subject: Kept; readonly found: readonly number[] };

export type Fulfilled = { readonly subject: Kept; readonly found: readonly number[] };

/** An index alone for a record of which nothing else is compared: joins of a million records fit into memory then. */
type Remembered = number | Kept;

const keptOf = (it: Remembered): Kept => (typeof it === "number" ? keptIndex(it) : it);
const indexOf = (it: Remembered): number => (typeof it === "number" ? it : it.index);
const listOf = (it: Remembered | readonly Remembered[] | undefined): readonly Remembered[] => {
  if (it === undefined) return [];
  return typeof it === "number" || "index" in it ? [it] : it;
};

/** One need, with the records that may fulfil it and the subjects that wait for one, by the value at its key. */
export class Candidates {
  readonly need: Need;
  readonly #pointers: readonly Pointer[];
  readonly #keys: KeyBudget;
  readonly #byKey = new Map<Scalar, Remembered | Remembered[]>();
  /** The indexes of the records kept for `latest` that do not pass `mustBe`. */
  readonly #refused = new Set<number>();
  readonly #waiting = new Map<Scalar, Waiting[]>();

  constructor(need: Need, needs: readonly Need[], keys: KeyBudget) {
    this.need = need;
    this.#pointers = pointersOf(need, needs);
    this.#keys = keys;
  }

  /** In the order of the indexes. */
  before(bound: Bound): readonly Kept[] {
    const value = referred(this.need.match, bound);
    return isScalar(value) ? listOf(this.#byKey.get(value)).map(keptOf) : [];
  }

  isRefused({ index }: Kept): boolean {
    return this.#refused.has(index);
  }

  /** False if the subject has no value to match. */
  wait(waiting: Waiting): boolean {
    const key = referred(this.need.match, new Map([[SUBJECT, waiting.subject]]));
    if (!isScalar(key)) return false;
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
    const waiting = key === undefined ? undefined : this.#waiting.get(key);
    if (key === undefined || waiting === undefined) return [];
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
    if (key === undefined) return;
    const all = kept(leaf, this.#pointers);
    const record = this.#pointers.length === 0 ? leaf.index : all;
    this.#keys.take(all.weight);
    const known = this.#byKey.get(key);
    if (known === undefined || this.need.when === "latest") this.#byKey.set(key, record);
    else if (Array.isArray(known)) known.push(record);
    else this.#byKey.set(key, [known, record]);
    const { mustBe } = this.need;
    if (mustBe === null) return;
    for (const it of listOf(known)) {
      this.#keys.give(keptOf(it).weight);
      this.#refused.delete(indexOf(it));
    }
    if (!matches(leaf, mustBe, period)) this.#refused.add(leaf.index);
  }

  #keyOf(leaf: Leaf, period: Period): Scalar | undefined {
    const value = matches(leaf, this.need.of, period) ? valueAt(leaf, this.need.key) : undefined;
    return isScalar(value) ? value : undefined;
  }
}
