import type { Filter, Sort } from "mongodb";
import type { Condition, ViewQuery, ViewSchema } from "../../domain/ports/view-store.ts";
import { comparableText, fieldType, isOfType } from "../view-schema.ts";
import type { StoredDocument } from "./documents.ts";

type StoredFilter = Filter<StoredDocument>;

export type StoredQuery = { readonly filter: StoredFilter; readonly sort: Sort; readonly limit: number };

/** Documents in one page. Lists show 100 at most; loops of the program may take more at once. */
const PAGE_MAX = 10_000;

const OPERATORS = { "=": "$eq", "<": "$lt", "<=": "$lte", ">": "$gt", ">=": "$gte" } as const satisfies Record<
  Condition["is"],
  string
>;

const asked = (value: string | number): string | number => (typeof value === "string" ? comparableText(value) : value);

/** Null where nothing can match: a value of another type than its field's equals, precedes and follows nothing. */
const conditionsOf = (schema: ViewSchema, where: readonly Condition[]): readonly StoredFilter[] | null => {
  let isSatisfiable = true;
  const conditions = where.map(({ field, is, value }) => {
    if (!isOfType(value, fieldType(schema, field))) isSatisfiable = false;
    if (!Object.hasOwn(OPERATORS, is)) throw new Error(`${JSON.stringify(is)} is no comparison`);
    return { [field]: { [OPERATORS[is]]: asked(value) } };
  });
  return isSatisfiable ? conditions : null;
};

/**
 * What lies behind a cursor. The bound is what an index scan begins with; of the alternatives each is a range of the
 * same index as well.
 */
const behind = (field: string, order: "asc" | "desc", value: string | number, id: string): readonly StoredFilter[] => {
  const [from, beyond] = order === "asc" ? (["$gte", "$gt"] as const) : (["$lte", "$lt"] as const);
  return [
    { [field]: { [from]: value } },
    { $or: [{ [field]: { [beyond]: value } }, { [field]: { $eq: value }, _id: { [beyond]: id } }] },
  ];
};

/**
 * A page as MongoDB is asked for it; null when it is empty. Comparisons find values of the same type only, so that a
 * bound below all values of a type is what leaves out documents without the field, removed ones among them.
 */
export const pageQuery = (schema: ViewSchema, { where, sort, after, limit }: ViewQuery): StoredQuery | null => {
  const type = fieldType(schema, sort.field);
  const conditions = conditionsOf(schema, where);
  if (conditions === null || limit <= 0 || (after !== undefined && !isOfType(after.value, type))) return null;
  const lowest = type === "text" ? "" : Number.NEGATIVE_INFINITY;
  const cursor =
    after === undefined ? [] : behind(sort.field, sort.order, asked(after.value), comparableText(after.id));
  const direction = sort.order === "asc" ? 1 : -1;
  return {
    filter: { $and: [...conditions, { [sort.field]: { $gte: lowest } }, ...cursor] },
    // Both one way, as in every index: it is read forwards or backwards.
    sort: { [sort.field]: direction, _id: direction },
    limit: Math.min(limit, PAGE_MAX),
  };
};

/** Null when nothing can match. */
export const countFilter = (schema: ViewSchema, where: readonly Condition[]): StoredFilter | null => {
  const conditions = conditionsOf(schema, where);
  if (conditions === null) return null;
  return conditions.length > 0 ? { $and: [...conditions] } : { _removed: { $exists: false } };
};
