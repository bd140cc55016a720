import type { Condition, Document, Found, ViewQuery, ViewStore } from "../../domain/ports.ts";
import { events } from "../../projections/events.ts";
import type { Problem } from "../problems.ts";
import { byText, type Searched, satisfies } from "./event-text.ts";
import { type Page, pageOf } from "./listing.ts";
import type { JsonSchema } from "./route.ts";
import { TIME_RANGE_QUERY, timeRangeOf } from "./time-range.ts";

/** All that the API knows; some belong to approvals and agents and match nothing without them. */
const STATUSES = [
  "blocked",
  "held",
  "queued",
  "delivering",
  "retrying",
  "delivered",
  "failed",
  "rejected",
  "expired",
  "cancelled",
  "recorded",
] as const;

/** Longer than any delivery id or type that a provider sends. */
const TEXT_LENGTH_MAX = 512;
const text = (description: string): JsonSchema => ({
  type: "string",
  minLength: 1,
  maxLength: TEXT_LENGTH_MAX,
  description,
});

export const EVENT_SEARCH_QUERY: Readonly<Record<string, JsonSchema>> = {
  status: { enum: STATUSES, description: "Only events in this state" },
  source_id: text("Only events of this source"),
  agent_id: text("Only requests of this agent"),
  endpoint_id: text("Only events for this endpoint"),
  action: text("Only requests for this action"),
  ...TIME_RANGE_QUERY,
  q: text("An event's id, a sender's delivery id, or how an event type begins"),
};

type Views = Pick<ViewStore, "get" | "getMany" | "page" | "count">;
type Query = Readonly<Record<string, unknown>>;

const VIEW = events.schema.name;
const SORT = { field: "received_at", order: "desc" } as const;

const equal = (field: string, value: unknown): Condition[] =>
  value === undefined ? [] : [{ field, is: "=", value: String(value) }];

/** Which of two filters is the rarer is not counted any further. */
const RARE_MAX = 5_000;
/** Documents looked at in one go where the store does not filter. */
const CHUNK = 500;

/** The same documents without those that a condition excludes, which the store is not told of. */
const passing = (views: Pick<ViewStore, "page">, conditions: readonly Condition[]): Pick<ViewStore, "page"> => ({
  async page(view, query) {
    const passed: Found[] = [];
    for (let next: ViewQuery = { ...query, limit: CHUNK }; passed.length < query.limit; ) {
      const found = await views.page(view, next);
      passed.push(...found.filter(({ document }) => satisfies(document, conditions)));
      const last = found.at(-1);
      if (last === undefined || found.length < CHUNK) break;
      next = { ...next, after: { value: String(last.document[SORT.field]), id: last.id } };
    }
    return passed.slice(0, query.limit);
  },
});

/**
 * Where a status stands beside other filters a store may take the index of either. Its own (the view's last, which
 * SQLite prefers) is right for the failed events of a large source, and walks through every delivered one for a small
 * source: then the source leads, and the status is looked at afterwards.
 */
const isCommon = async (
  views: Views,
  account: Condition,
  status: readonly Condition[],
  others: readonly Condition[],
): Promise<boolean> => {
  if (status.length === 0 || others.length === 0) return false;
  const count = (condition: Condition): Promise<number> => views.count(VIEW, [account, condition], RARE_MAX);
  const [own = 0] = await Promise.all(status.map(count));
  return own > Math.min(...(await Promise.all(others.map(count))));
};

/** A page of an account's events by the filters of `EVENT_SEARCH_QUERY`, newest first. */
export const searchEvents = async <T>(
  views: Views,
  accountId: string,
  query: Query,
  show: (document: Document, id: string) => T,
): Promise<Page<T> | Problem> => {
  const range = timeRangeOf(query);
  if ("problem" in range) return range;
  const account: Condition = { field: "account", is: "=", value: accountId };
  const searched: Searched =
    query.q === undefined ? { views, where: [], types: [] } : await byText(views, accountId, String(query.q));
  const indexed: Condition[] = [
    ...equal("origin_id", query.source_id),
    ...equal("origin_id", query.agent_id),
    ...equal("endpoint_id", query.endpoint_id),
    // An agent's request has the action's name as its type.
    ...equal("type", query.action),
  ];
  const types = searched.types.flatMap((type) => equal("type", type));
  const status = equal("status", query.status);
  const afterwards = await isCommon(views, account, status, [...indexed, ...types]);
  const where: Condition[] = [
    account,
    ...indexed,
    ...(query.action === undefined ? [] : equal("origin_kind", "agent")),
    ...(afterwards ? [] : status),
    ...(range.from === null ? [] : [{ field: "received_at", is: ">=", value: range.from } as const]),
    ...(range.to === null ? [] : [{ field: "received_at", is: "<", value: range.to } as const]),
    ...searched.where,
  ];
  return pageOf(
    afterwards ? passing(searched.views, status) : searched.views,
    { view: VIEW, where, sort: SORT },
    query,
    show,
  );
};
