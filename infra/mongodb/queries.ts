import type { Filter, Sort } from "mongodb";
import type { Condition, ViewQuery, ViewSchema } from "../../domain/ports/view-store.ts";
import { comparableText, comparableValue, fieldType, isOfType, PAGE_MAX } from "../view-schema.ts";
import type { StoredDocument } from "./documents.ts";

type StoredFilter = Filter<StoredDocument>;

export type StoredQuery = { readonly filter: StoredFilter; readonly sort: Sort; readonly limit: number };

const OPERATORS = { "=": "$eq", "<": "$lt", "<=": "$lte", ">": "$gt", ">=": "$gte" } as const satisfies Record<
  Condition["is"],
  string
>;

/** Null if no document can match, because a value has another type than its field. */
const conditionsOf = (schema: ViewSchema, where: readonly Condition[]): readonly StoredFilter[] | null => {
  let isSatisfiable = true;
  const conditions = where.map(({ field, is, value }) => {
    if (!isOfType(value, fieldType(schema, field))) isSatisfiable = false;
    if (!Object.hasOwn(OPERATORS, is)) throw new Error(`${JSON.stringify(is)} is no comparison`);
    return { [field]: { [OPERATORS[is]]: comparableValue(value) } };
  });
  return isSatisfiable ? conditions : null;
};

/** The first condition bounds the index scan; each alternative of the second is a range of the same index. */
const afterCursor = (
  field: string,
  order: "asc" | "desc",
  value: string | number,
  id: string,
): readonly StoredFilter[] => {
  const [from, beyond] = order === "asc" ? (["$gte", "$gt"] as const) : (["$lte", "$lt"] as const);
  return [
    { [field]: { [from]: value } },
    { $or: [{ [field]: { [beyond]: value } }, { [field]: { $eq: value }, _id: { [beyond]: id } }] },
  ];
};

/** Null if the page is empty. The bound below all values leaves out documents that lack the sort field. */
export const pageQuery = (schema: ViewSchema, { where, sort, after, limit }: ViewQuery): StoredQuery | null => {
  const type = fieldType(schema, sort.field);
  const conditions = conditionsOf(schema, where);
  if (conditions === null || limit <= 0 || (after !== undefined && !isOfType(after.value, type))) return null;
  const lowest = type === "text" ? "" : Number.NEGATIVE_INFINITY;
  const cursor =
    after === undefined
      ? []
      : afterCursor(sort.field, sort.order, comparableValue(after.value), comparableText(after.id));
  const direction = sort.order === "asc" ? 1 : -1;
  return {
    filter: { $and: [...conditions, { [sort.field]: { $gte: lowest } }, ...cursor] },
    // Field and id are sorted in the same direction, as in the indexes.
    sort: { [sort.field]: direction, _id: direction },
    limit: Math.min(limit, PAGE_MAX),
  };
};

export const countFilter = (schema: ViewSchema, where: readonly Condition[]): StoredFilter | null => {
  const conditions = conditionsOf(schema, where);
  if (conditions === null) return null;
  return conditions.length > 0 ? { $and: [...conditions] } : { _removed: { $exists: false } };
};
