import type { Json, JsonObject } from "../../../domain/json.ts";
import { type Answer, IndexList } from "./answer.ts";
import { type Coverage, judged } from "./coverage.ts";
import { matches, type Period } from "./filter.ts";
import type { Leaf } from "./leaf.ts";
import { isScalar, type Scalar, scalarKey, valueAt } from "./pointer.ts";
import type { Filter, Query } from "./query.ts";
import type { KeyBudget, Question } from "./question.ts";

type QueryOf<A extends Query["ask"]> = Extract<Query, { ask: A }>;

/** The number of records that the claim allows; null where it does not say. */
export type Expected = { readonly atLeast: number | null; readonly atMost: number | null };

const holds = (count: number, { atLeast, atMost }: Expected): boolean | null =>
  atLeast === null && atMost === null
    ? null
    : (atLeast === null || count >= atLeast) && (atMost === null || count <= atMost);

/** More records cannot undo that there are too many, or enough where any number more is allowed. */
const isFinal = (count: number, { atLeast, atMost }: Expected): boolean =>
  atMost === null ? atLeast !== null && count >= atLeast : count > atMost;

type Counted = { readonly of: Filter; readonly expected: Expected; readonly coverage: Coverage };

const answered = (indexes: IndexList, { of, expected, coverage }: Counted, result: JsonObject): Answer => ({
  ...judged(
    {
      inExport: holds(indexes.records, expected),
      isFinal: isFinal(indexes.records, expected),
      needsAll: of.time === "any",
    },
    coverage,
  ),
  unanswered: null,
  result: { count: indexes.records, ...result },
  rests_on: indexes.restsOn(),
});

export const countQuestion = ({ of }: QueryOf<"count">, period: Period, expected: Expected): Question => {
  const indexes = new IndexList();
  return {
    types: of.types,
    see(leaf) {
      if (matches(leaf, of, period)) indexes.add(leaf.index);
    },
    answer: (coverage) => answered(indexes, { of, expected, coverage }, {}),
  };
};

/** Characters of a value that an answer repeats. */
const TEXT_MAX = 400;

/** A long value is cut, and a list or object is shown as JSON text, so that an answer stays small. */
const shownValue = (value: Json | undefined): Json => {
  if (value === undefined || (isScalar(value) && typeof value !== "string")) return value ?? null;
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length > TEXT_MAX ? `${text.slice(0, TEXT_MAX)}…` : text;
};

export const listQuestion = ({ of, show, first }: QueryOf<"list">, period: Period, expected: Expected): Question => {
  const indexes = new IndexList();
  const rows: JsonObject[] = [];
  return {
    types: of.types,
    see(leaf) {
      if (!matches(leaf, of, period)) return;
      indexes.add(leaf.index);
      if (rows.length >= first) return;
      const values = show.map(({ at }) => shownValue(valueAt(leaf, at)));
      rows.push({ index: leaf.index, recorded_at: leaf.recorded_at, type: leaf.type, values });
    },
    answer: (coverage) =>
      answered(indexes, { of, expected, coverage }, { labels: show.map(({ label }) => label), rows }),
  };
};

/** How many different values an answer names; it counts all of them. */
const VALUES_SHOWN_MAX = 50;

export const distinctQuestion = (
  { of, at }: QueryOf<"distinct">,
  period: Period,
  { expected, keys }: { readonly expected: Expected; readonly keys: KeyBudget },
): Question => {
  const indexes = new IndexList();
  const found = new Map<string, { readonly value: Scalar; count: number; readonly first: number }>();
  const scalarOf = (leaf: Leaf): Scalar => {
    const value = valueAt(leaf, at);
    return isScalar(value) ? value : null;
  };
  return {
    types: of.types,
    see(leaf) {
      if (!matches(leaf, of, period)) return;
      indexes.add(leaf.index);
      const value = scalarOf(leaf);
      const key = scalarKey(value);
      const known = found.get(key);
      if (known !== undefined) known.count += 1;
      else {
        keys.take();
        found.set(key, { value, count: 1, first: leaf.index });
      }
    },
    answer(coverage) {
      // The sort is stable, so values that are equally frequent stay in the order in which they were first seen.
      const most = [...found.values()].sort((a, b) => b.count - a.count).slice(0, VALUES_SHOWN_MAX);
      const values = most.map(({ value, count, first }) => ({ value: shownValue(value), count, first_index: first }));
      return answered(indexes, { of, expected, coverage }, { different: found.size, values });
    },
  };
};
