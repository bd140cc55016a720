import type { Condition, ViewStore } from "../../../domain/ports/view-store.ts";
import type { AccountFacets } from "../../../projections/account-facets.ts";
import { events } from "../../../projections/events.ts";
import { gateDenials } from "../../../projections/gate-denials.ts";
import { eventIdOf, isEventId } from "../../streams/event-id.ts";
import { documentIn } from "../../views/typed-documents.ts";

/** What a text may mean when it is searched for in an account's events. */
export type SearchMeaning =
  /** The text is the id of an event, or a sender's id of a delivery. */
  | { readonly kind: "events"; readonly ids: readonly string[] }
  /** The text is part of the names of these types, or names a gate or a code of refusals. */
  | { readonly kind: "words"; readonly types: readonly string[]; readonly refused: readonly Condition[] }
  /** The account has too many types to list them, so events are found whose type begins with the text. */
  | { readonly kind: "range"; readonly where: readonly Condition[] };

type Views = Pick<ViewStore, "get" | "getMany" | "count">;

const VIEW = events.schema.name;
/** The highest code point: `q + LAST_CHARACTER` sorts after every text that begins with `q`. */
const LAST_CHARACTER = "\u{10ffff}";

/** The text may be a problem's code (`gate-budget`), the name of a gate (`budget`), or the code in a verdict. */
export const denialConditions = (q: string): readonly Condition[] => [
  { field: "gate", is: "=", value: q.replace(/^gate-/, "").replaceAll("-", "_") },
  { field: "code", is: "=", value: q },
];

/** The conditions for `q` that at least one refusal in the account meets. */
const known = async (views: Views, account: string, q: string): Promise<readonly Condition[]> => {
  const own: Condition = { field: "account", is: "=", value: account };
  const counted = await Promise.all(
    denialConditions(q).map(async (it) => ((await views.count(gateDenials.schema.name, [own, it], 1)) > 0 ? [it] : [])),
  );
  return counted.flat();
};

export const meaningOf = async (views: Views, account: string, q: string): Promise<SearchMeaning> => {
  if (isEventId(q)) return { kind: "events", ids: [q] };
  // The projection stores the account's types and origins under the account's id.
  const seen = await documentIn<AccountFacets>(views, events, account);
  if (seen === null) return { kind: "events", ids: [] };
  const ids = seen.origins.map((origin) => eventIdOf(account, origin, q));
  const named = [...(await views.getMany(VIEW, ids)).keys()];
  if (named.length > 0) return { kind: "events", ids: named };
  const refused = await known(views, account, q);
  const types = seen.types.filter((type) => type.includes(q));
  if (seen.types_complete || refused.length > 0) return { kind: "words", types, refused };
  const begins: Condition[] = [
    { field: "type", is: ">=", value: q },
    { field: "type", is: "<", value: q + LAST_CHARACTER },
  ];
  return { kind: "range", where: begins };
};
