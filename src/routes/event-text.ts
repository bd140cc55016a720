import type { Condition, Document, Found, ViewStore } from "../../domain/ports.ts";
import { events, type SeenInAccount } from "../../projections/events.ts";
import { eventIdOf, isEventId } from "../event-id.ts";
import type { Cursor } from "./listing.ts";

/** Where to look for what a text means, and what to look for there. */
export type Searched = {
  readonly views: Pick<ViewStore, "page">;
  readonly where: readonly Condition[];
  /** The types that begin with the text. */
  readonly types: readonly string[];
};

type Views = Pick<ViewStore, "get" | "getMany" | "page">;

const VIEW = events.schema.name;
/** Types that begin with what is searched for; with more of them the store walks through their range instead. */
const TYPES_JOINED_MAX = 16;
/** Behind every text that begins with the one before it: no character has a higher code point. */
const LAST_CHARACTER = "\u{10ffff}";

const HOLDS: Readonly<Record<Condition["is"], (a: string | number, b: string | number) => boolean>> = {
  "=": (a, b) => a === b,
  "<": (a, b) => a < b,
  "<=": (a, b) => a <= b,
  ">": (a, b) => a > b,
  ">=": (a, b) => a >= b,
};

export const satisfies = (document: Document, where: readonly Condition[]): boolean =>
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
      types.map((type) =>
        views.page(view, { ...query, where: [...query.where, { field: "type", is: "=", value: type }] }),
      ),
    );
    return pages.flat().sort(newestFirst).slice(0, query.limit);
  },
});

/** An event's id, a sender's delivery id, or the beginning of an event type. */
export const byText = async (views: Views, account: string, q: string): Promise<Searched> => {
  if (isEventId(q)) return { views: thoseOf(views, [q]), where: [], types: [] };
  // Written by the projection under the account's id.
  const seen = (await views.get(VIEW, account)) as SeenInAccount | null;
  if (seen === null) return { views: thoseOf(views, []), where: [], types: [] };
  const ids = seen.origins.map((origin) => eventIdOf(account, origin, q));
  const named = [...(await views.getMany(VIEW, ids)).keys()];
  if (named.length > 0) return { views: thoseOf(views, named), where: [], types: [] };
  const types = seen.types.filter((type) => type.startsWith(q));
  if (seen.types_complete && types.length <= TYPES_JOINED_MAX)
    return { views: anyOfTypes(views, types), where: [], types };
  const range: Condition[] = [
    { field: "type", is: ">=", value: q },
    { field: "type", is: "<", value: q + LAST_CHARACTER },
  ];
  return { views, where: range, types: [] };
};
