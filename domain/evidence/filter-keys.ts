import { ACTION_NAME_MAX, isActionName } from "./action-name.ts";
import type { ExportFilter } from "./export-lines.ts";
import { ACTION_KEY_PREFIX, isId } from "./record-keys.ts";

/** The filters by an id of one kind: how such an id begins. */
const ID_PREFIXES = {
  event_id: "evt_",
  source_id: "src_",
  agent_id: "agt_",
  endpoint_id: "end_",
  policy_id: "pol_",
  approval_id: "apr_",
  bundle_id: "bun_",
  member_id: "mem_",
} as const;

type IdFilter = keyof typeof ID_PREFIXES;
/** The filters in which an export can prove that it is whole. */
export type KeyFilter = IdFilter | "action";

const isIdFilter = (name: string): name is IdFilter => Object.hasOwn(ID_PREFIXES, name);
export const KEY_FILTERS: readonly KeyFilter[] = [...Object.keys(ID_PREFIXES).filter(isIdFilter), "action"];

/** The filters by an id of any kind. */
const ANY_ID_FILTERS: ReadonlySet<string> = new Set(["actor", "subject"]);

/** `must` says of the filter's value what it has to be; a record can have no other key under this filter. */
export type FilterKey = { readonly key: string } | { readonly must: string };

const ID_REST = "and 32 characters of a to z and 2 to 7";

const ACTION_RULE = `must be the name of an action, such as refund.create: at most ${ACTION_NAME_MAX} of a to z, 0 to 9, _ and -, in parts with a dot between them, a letter first`;

const ofAnyId = (value: string, account: string): FilterKey => {
  if (value === account) return { must: "must be another id than the account's own, which is no key of any record" };
  return isId(value) ? { key: value } : { must: `must be a whole id: its prefix, such as agt_, ${ID_REST}` };
};

/**
 * The key of the records that a filter of this name and value asks for. Without this rule a mistyped id, or one of
 * another kind, would be proved to have no record: a map of keys never has what can be no key.
 */
export const filterKeyOf = (name: string, value: string, account: string): FilterKey => {
  if (name === "action") return isActionName(value) ? { key: `${ACTION_KEY_PREFIX}${value}` } : { must: ACTION_RULE };
  if (ANY_ID_FILTERS.has(name)) return ofAnyId(value, account);
  if (!isIdFilter(name)) return { must: "must be left out: no key is asked for by it" };
  const prefix = ID_PREFIXES[name];
  const isOfKind = value.startsWith(prefix) && value !== account && isId(value);
  return isOfKind ? { key: value } : { must: `must be a whole id of this kind: ${prefix} ${ID_REST}` };
};

/** Why a proof that no record of `key` is left out is no answer to the filter; null if it is one. */
export const whyNotProvedBy = (filter: ExportFilter, key: string, account: string): string | null => {
  const [asked, ...more] = Object.entries(filter);
  if (asked === undefined || more.length > 0)
    return `the key map's proof is about ${key}, and the filter not about exactly one key`;
  const [name, value] = asked;
  const found = filterKeyOf(name, value, account);
  if ("must" in found) return `the key map proves nothing for the filter: ${name} ${found.must}`;
  return found.key === key ? null : `the key map's proof is about ${key}, the filter about something else`;
};
