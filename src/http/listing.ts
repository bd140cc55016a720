import { defined } from "../../domain/defined.ts";
import type { Condition, Document, FoundDocument, ViewStore } from "../../domain/ports/view-store.ts";
import { type Problem, problem } from "../streams/problems.ts";
import { typedDocument } from "../views/typed-documents.ts";
import { pageNameOf } from "./named-schemas.ts";
import type { JsonSchema } from "./route.ts";
import { severalOf } from "./several-values.ts";

const LIMIT_MAX = 100;
const LIMIT_DEFAULT = 50;
const CURSOR_LENGTH_MAX = 1024;
/** Counting stops here, after a few milliseconds. */
const TOTAL_MAX = 10_000;

export const LISTING_QUERY = {
  limit: { type: "integer", minimum: 1, maximum: LIMIT_MAX, default: LIMIT_DEFAULT },
  total: { enum: ["true", "false"], description: "true: count all that match, up to 10,000" },
  cursor: { type: "string", maxLength: CURSOR_LENGTH_MAX, description: "`next_cursor` of the page before" },
} as const satisfies Record<string, JsonSchema>;

/** The parameter with which a list says how many it would have with each of these statuses. */
export const countsOfStatuses = (statuses: readonly string[]) =>
  severalOf(statuses, "Count those that match with each of these statuses in place of `status`, up to 10,000 each");

const COUNTS: JsonSchema = {
  type: "object",
  additionalProperties: { type: "integer", maximum: TOTAL_MAX },
  description: `By status, if they were asked for and can be counted; ${TOTAL_MAX} stands for as many or more`,
};

export const listOf = (item: JsonSchema, { hasCounts = false } = {}): JsonSchema => ({
  ...defined({ title: pageNameOf(item) }),
  type: "object",
  required: ["data", "next_cursor"],
  properties: {
    data: { type: "array", items: item },
    next_cursor: { type: ["string", "null"] },
    total: { type: "integer", maximum: TOTAL_MAX, description: "If it was asked for and can be counted" },
    total_is_more: { type: "boolean", description: "True if there are more than `total`" },
    ...(hasCounts ? { counts: COUNTS } : {}),
  },
});

export type Cursor = { readonly value: string | number; readonly id: string };

/** A number from a cursor must be checked to be finite, because JSON.parse reads 1e999 as Infinity. */
const isSortable = (value: unknown): value is string | number => typeof value === "string" || Number.isFinite(value);

/** `order` is the name that `Listing` has for it. */
export const encodeCursor = ({ value, id }: Cursor, order?: string): string =>
  Buffer.from(JSON.stringify(order === undefined ? [value, id] : [value, id, order])).toString("base64url");

/**
 * Null if the cursor is invalid, or of another order. Callers can forge a valid one, so every query's `where` must name the
 * account.
 */
export const decodeCursor = (text: string, order?: string): Cursor | null => {
  const bytes = Buffer.from(text, "base64url");
  if (text.length > CURSOR_LENGTH_MAX || bytes.toString("base64url") !== text) return null;
  let parsed: unknown;
  try {
    parsed = JSON.parse(bytes.toString("utf8"));
  } catch {
    return null;
  }
  if (!Array.isArray(parsed) || parsed.length !== (order === undefined ? 2 : 3)) return null;
  const [value, id, of]: readonly unknown[] = parsed;
  if (typeof id !== "string" || !isSortable(value) || of !== order) return null;
  return { value, id };
};

export type Listing = {
  readonly view: string;
  readonly where: readonly Condition[];
  readonly sort: { readonly field: string; readonly order: "asc" | "desc" };
  /** The name of an order that is not the list's usual one: a cursor of one order finds a wrong page in another. */
  readonly order?: string;
};

type Total = { readonly total?: number; readonly total_is_more?: boolean };
type Counts = { readonly counts?: Readonly<Record<string, number>> };
export type Page<T> = Total & Counts & { readonly data: readonly T[]; readonly next_cursor: string | null };

/** A list that this process filters has no `count`, and then no total. */
type Listed = Pick<ViewStore, "page"> & Partial<Pick<ViewStore, "count">>;

const totalOf = async (views: Listed, { view, where }: Listing): Promise<Total> => {
  const count = await views.count?.(view, where, TOTAL_MAX + 1);
  return count === undefined ? {} : { total: Math.min(count, TOTAL_MAX), total_is_more: count > TOTAL_MAX };
};

/** How many a list has with each of these statuses, up to `TOTAL_MAX`. */
export const countsOf = async (
  statuses: readonly string[],
  count: (status: string, atMost: number) => Promise<number>,
): Promise<Readonly<Record<string, number>>> =>
  Object.fromEntries(
    await Promise.all(statuses.map(async (status) => [status, await count(status, TOTAL_MAX)] as const)),
  );

const limitOf = (given: unknown = LIMIT_DEFAULT): number | null =>
  typeof given === "number" && Number.isInteger(given) && given >= 1 && given <= LIMIT_MAX ? given : null;

export const invalid = (path: string, message: string): Problem =>
  problem("invalid-request", `The parameter ${path} ${message}.`, { errors: [{ path: `/${path}`, message }] });

export const pageOf = async <D extends object = Document, T = unknown>(
  views: Listed,
  { view, where, sort, order }: Listing,
  query: Readonly<Record<string, unknown>>,
  show: (document: D, id: string) => T,
): Promise<Page<T> | Problem> => {
  const limit = limitOf(query.limit);
  if (limit === null) return invalid("limit", `must be a whole number from 1 to ${LIMIT_MAX}`);
  const after = query.cursor === undefined ? undefined : decodeCursor(String(query.cursor), order);
  if (after === null) return invalid("cursor", "must be the next_cursor of a page before");

  const found = await views.page(view, {
    where,
    sort,
    ...defined({ after }),
    limit: limit + 1,
  });
  const shown = found.slice(0, limit);
  const last = found.length > limit ? shown.at(-1) : undefined;
  return {
    data: shown.map(({ id, document }) => show(typedDocument<D>(document), id)),
    next_cursor: last === undefined ? null : cursorAfter(last, sort.field, order),
    ...(query.total === "true" ? await totalOf(views, { view, where, sort }) : {}),
  };
};

const cursorAfter = ({ id, document }: FoundDocument, field: string, order?: string): string => {
  const value = document[field];
  // Without this check, a document without a sort value would end the list too early.
  if (!isSortable(value)) throw new Error(`the document ${id} has no ${field} to sort by`);
  return encodeCursor({ value, id }, order);
};

export const isPage = <T>(it: Page<T> | Problem): it is Page<T> => "data" in it;
