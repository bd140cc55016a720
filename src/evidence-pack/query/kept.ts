import type { Json } from "../../../domain/json.ts";
import type { Leaf } from "./leaf.ts";
import { isScalar, type Pointer, type Scalar, scalarKey, valueAt } from "./pointer.ts";
import { type Comparison, type Need, type Reference, SUBJECT } from "./query.ts";

/** What a join remembers of a record: its index, and the values that the query compares. */
export type Kept = {
  readonly index: number;
  readonly recordedAt: string;
  readonly values: ReadonlyMap<string, Json>;
  /** What remembering it takes of the key budget. */
  readonly weight: number;
};

/** The records found so far, by the names of their needs. */
export type Bound = ReadonlyMap<string, Kept>;

const nameOf = (pointer: Pointer): string => JSON.stringify(pointer);

/** A value counts once more for each of these, so that many long values do not fit into the budget either. */
const WEIGHT_BYTES = 1_024;

const NO_VALUES: ReadonlyMap<string, Json> = new Map();

export const kept = (leaf: Leaf, pointers: readonly Pointer[]): Kept => {
  if (pointers.length === 0) return { ...keptIndex(leaf.index), recordedAt: leaf.recorded_at };
  const values = new Map<string, Json>();
  let weight = 1;
  for (const pointer of pointers) {
    const value = valueAt(leaf, pointer);
    if (value === undefined) continue;
    values.set(nameOf(pointer), value);
    if (typeof value === "string") weight += Math.floor(value.length / WEIGHT_BYTES);
    else if (!isScalar(value)) weight += Math.floor(JSON.stringify(value).length / WEIGHT_BYTES);
  }
  return { index: leaf.index, recordedAt: leaf.recorded_at, values, weight };
};

/** A record of which nothing but its place is compared. */
export const keptIndex = (index: number): Kept => ({ index, recordedAt: "", values: NO_VALUES, weight: 1 });

export const keptValue = ({ values }: Kept, pointer: Pointer): Json | undefined => values.get(nameOf(pointer));

export const referred = ({ of, at }: Reference, bound: Bound): Json | undefined => {
  const record = bound.get(of);
  return record === undefined ? undefined : keptValue(record, at);
};

const referencesIn = ({ match, compare, count }: Need): readonly Reference[] => [
  match,
  ...compare.flatMap(({ to, onlyIf }) => (onlyIf === null ? [to] : [to, onlyIf.of])),
  ...(count === null || typeof count.atLeast === "number" ? [] : [count.atLeast]),
];

const pointersTo = (name: string, needs: readonly Need[]): readonly Pointer[] =>
  needs.flatMap((need) =>
    referencesIn(need)
      .filter(({ of }) => of === name)
      .map(({ at }) => at),
  );

export const pointersOfSubject = (needs: readonly Need[]): readonly Pointer[] => pointersTo(SUBJECT, needs);

export const pointersOf = (need: Need, needs: readonly Need[]): readonly Pointer[] => [
  ...need.compare.map(({ at }) => at),
  ...(need.count === null ? [] : [need.count.distinct]),
  ...pointersTo(need.name, needs),
];

const asScalar = (value: Json | undefined): Scalar | undefined => (isScalar(value) ? value : undefined);

const isListed = (value: Scalar, list: Json | undefined): boolean =>
  Array.isArray(list) && list.some((it: Json) => isScalar(it) && scalarKey(it) === scalarKey(value));

/** A value that is absent, or is no scalar, equals nothing. */
export const compares = (record: Kept, { at, test, to, onlyIf }: Comparison, bound: Bound): boolean => {
  if (onlyIf !== null && asScalar(referred(onlyIf.of, bound)) !== onlyIf.is) return true;
  const value = asScalar(keptValue(record, at));
  const other = referred(to, bound);
  if (value === undefined) return false;
  if (test === "equals") return asScalar(other) === value;
  // Without the list nobody knows who is in it, so the comparison fails.
  return Array.isArray(other) && !isListed(value, other);
};
