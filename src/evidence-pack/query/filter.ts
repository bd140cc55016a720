import type { Json } from "../../../domain/json.ts";
import { categoryOf, type Leaf } from "./leaf.ts";
import { isScalar, scalarKey, valueAt } from "./pointer.ts";
import type { Condition, Filter, Test } from "./query.ts";

/** ISO-8601 UTC with milliseconds, so that times compare as text: `from` inclusive, `to` exclusive. */
export type Period = { readonly from: string; readonly to: string };

/** `recorded_at` is the operator's word, and with it what lies in a period. */
export const isIn = ({ from, to }: Period, { recorded_at }: Pick<Leaf, "recorded_at">): boolean =>
  from <= recorded_at && recorded_at < to;

const passes = (value: Json | undefined, test: Test): boolean => {
  switch (test.kind) {
    case "exists":
      return (value !== undefined) === test.exists;
    case "in":
      return isScalar(value) && test.values.has(scalarKey(value));
    case "not-in":
      return !isScalar(value) || !test.values.has(scalarKey(value));
    case "at-least":
      return typeof value === "number" && value >= test.number;
    case "at-most":
      return typeof value === "number" && value <= test.number;
    case "some":
      return Array.isArray(value) && value.some((element: Json) => fulfils(element, test.where));
  }
};

const fulfils = (value: Json, where: readonly Condition[]): boolean =>
  where.every(({ at, test }) => passes(valueAt(value, at), test));

export const matches = (leaf: Leaf, filter: Filter, period: Period): boolean =>
  (filter.types === null || filter.types.has(leaf.type)) &&
  (filter.categories === null || filter.categories.has(categoryOf(leaf))) &&
  (filter.actors === null || filter.actors.has(leaf.actor.kind)) &&
  (filter.time === "any" || isIn(period, leaf)) &&
  fulfils(leaf, filter.where);
