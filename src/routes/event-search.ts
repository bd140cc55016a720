import type { Condition, Document, Found, ViewStore } from "../../domain/ports.ts";
import { events, type SeenInAccount } from "../../projections/events.ts";
import { eventIdOf, isEventId } from "../event-id.ts";
import type { Problem } from "../problems.ts";
import { type Cursor, type Page, pageOf } from "./listing.ts";
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
/** Types that begin with what is searched for; with more of them the store walks through their range instead. */
const TYPES_JOINED_MAX = 16;
/** Behind every text that begins with the one before it: no character has a higher code point. */
const LAST_CHARACTER = "\u{10ffff}";

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

type Views = Pick<ViewStore, "get" | "getMany" | "page">;
type Query = Readonly<Record<string, unknown>>;

const VIEW = events.schema.name;
const SORT = { field: "received_at", order: "desc" } as const;

const equal = (field: string, value: unknown): Condition[] =>
  value === undefined ? [] : [{ field, is: "=", value: String(value) }];

const HOLDS: Readonly<Record<Condition["is"], (a: string | number, b: string | number) => boolean>> = {
  "=": (a, b) => a === b,
  "<": (a, b) => a < b,
  "<=": (a, b) => a <= b,
  ">": (a, b) => a > b,
  ">=": (a, b) => a >= b,
};

const satisfies = (document: Document, where: readonly Condition[]): boolean =>
  where.every(({ field, is, value }) => {
    const kept = document[field];
    return (typeof kept === "string" || typeof kept === "number") && HOLDS[is](kept, value);
  });

/** Events found by their ids, as if they had been searched for. */
const thoseOf = (views: Views, ids: readonly string[]): Pick<ViewStore, "page"> => ({
  async page(view, { where, after, limit }) {
    const documents = await views.getMany(view, ids);
    return [...documents]
      .map(([id, document]) => ({ id, document }))
      .filter((it) => satisfies(it.document, where) && (after === undefined || isBehind(it, after)))
      .sort(newestFirst)
      .slice(0, limit);
  },
});

const newestFirst = (a: Found, b: Found): number => {
  const [left, right] = [String(a.document.received_at), String(b.document.received_at)];
  return left === right ? (a.id < b.id ? 1 : -1) : left < right ? 1 : -1;
};

const isBehind = ({ id, document }: Found, after: Cursor): boolean =>
  newestFirst({ id: after.id, document: { received_at: after.value } }, { id, document }) < 0;

/** The page over several types, each read in its own order by an index: their whole range would have to be sorted. */
const anyOfTypes = (views: Views, types: readonly string[]): Pick<ViewStore, "page"> => ({
  async page(view, query) {
    const pages = await Promise.all(
      types.map((type) => views.page(view, { ...query, where: [...query.where, ...equal("type", type)] })),
    );
    return pages.flat().sort(newestFirst).slice(0, query.limit);
  },
});

type Source = { readonly views: Pick<ViewStore, "page">; readonly where: readonly Condition[] };

const byText = async (views: Views, account: string, q: string): Promise<Source> => {
  if (isEventId(q)) return { views: thoseOf(views, [q]), where: [] };
  // Written by the projection under the account's id.
  const seen = (await views.get(VIEW, account)) as SeenInAccount | null;
  if (seen === null) return { views: thoseOf(views, []), where: [] };
  const ids = seen.origins.map((origin) => eventIdOf(account, origin, q));
  const named = [...(await views.getMany(VIEW, ids)).keys()];
  if (named.length > 0) return { views: thoseOf(views, named), where: [] };
  const types = seen.types.filter((type) => type.startsWith(q));
  if (seen.types_complete && types.length <= TYPES_JOINED_MAX) return { views: anyOfTypes(views, types), where: [] };
  const range: Condition[] = [
    { field: "type", is: ">=", value: q },
    { field: "type", is: "<", value: q + LAST_CHARACTER },
  ];
  return { views, where: range };
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
  const searched: Source =
    query.q === undefined ? { views, where: [] } : await byText(views, accountId, String(query.q));
  const where: Condition[] = [
    account,
    ...equal("status", query.status),
    ...equal("origin_id", query.source_id),
    ...equal("origin_id", query.agent_id),
    ...equal("endpoint_id", query.endpoint_id),
    // An agent's request has the action's name as its type.
    ...(query.action === undefined ? [] : [...equal("origin_kind", "agent"), ...equal("type", query.action)]),
    ...(range.from === null ? [] : [{ field: "received_at", is: ">=", value: range.from } as const]),
    ...(range.to === null ? [] : [{ field: "received_at", is: "<", value: range.to } as const]),
    ...searched.where,
  ];
  return pageOf(searched.views, { view: VIEW, where, sort: SORT }, query, show);
};
