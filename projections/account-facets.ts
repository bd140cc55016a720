import type { Request } from "../domain/delivery/events.ts";

/**
 * The types and origins of an account's events. With them a search by the beginning of a type or by delivery id needs
 * no index, which every event would have to write.
 */
export type AccountFacets = {
  readonly types: readonly string[];
  /** False if there were more types than `TYPES_MAX`. */
  readonly types_complete: boolean;
  /** Sources, agents and names of notifications, the latest to appear last. */
  readonly origins: readonly string[];
};

/** More types than any provider has: a sender that invents types must not grow the document. */
const TYPES_MAX = 500;
/** Ten times the sources of the largest plan, to include deleted ones. */
const ORIGINS_MAX = 1_000;
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
