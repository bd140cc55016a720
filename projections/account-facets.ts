import type { Request } from "../domain/delivery/events.ts";

/**
 * The types and origins of an account's events. A search by the beginning of a type, or by delivery id, tries each of
 * them, and so needs no further index, which every event would have to write.
 */
export type AccountFacets = {
  readonly types: readonly string[];
  /** False if an event had a type beyond the first `TYPES_MAX`, so that `types` lacks some. */
  readonly types_complete: boolean;
  /** Ids of sources and agents and names of notifications, in the order of their first events. */
  readonly origins: readonly string[];
};

/** More types than any provider has. The limit keeps a sender that invents types from growing the document for ever. */
const TYPES_MAX = 500;
/** Ten times the sources of the largest plan, because deleted sources count, too. */
export const ORIGINS_MAX = 1_000;
export const NO_FACETS: AccountFacets = { types: [], types_complete: true, origins: [] };

export const withEvent = (before: AccountFacets, { type, origin }: Request): AccountFacets => {
  let seen = before;
  if (!seen.origins.includes(origin.id))
    seen = { ...seen, origins: [...seen.origins.slice(1 - ORIGINS_MAX), origin.id] };
  if (!seen.types_complete || seen.types.includes(type)) return seen;
  return seen.types.length < TYPES_MAX
    ? { ...seen, types: [...seen.types, type].sort() }
    : { ...seen, types_complete: false };
};
