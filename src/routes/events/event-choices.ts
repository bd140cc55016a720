import { defined } from "../../../domain/defined.ts";
import type { Condition, ViewStore } from "../../../domain/ports/view-store.ts";
import { type AccountFacets, ORIGINS_MAX } from "../../../projections/account-facets.ts";
import { events } from "../../../projections/events.ts";
import { GATES } from "../../../projections/schemas/decided.ts";
import { EVENT_STATUSES } from "../../../projections/schemas/events.ts";
import type { JsonSchema } from "../../http/route.ts";
import { severalOf, valuesOf } from "../../http/several-values.ts";
import { NOTIFICATIONS } from "../../notifications/names.ts";
import { documentIn } from "../../views/typed-documents.ts";

const ORIGIN_KINDS = ["source", "agent", "system"] as const;
type OriginKind = (typeof ORIGIN_KINDS)[number];

export const CHOICES_QUERY = {
  status: severalOf(EVENT_STATUSES, "Only events with one of these statuses"),
  origin: severalOf(ORIGIN_KINDS, "Only what came from there; `system` are the service's own notifications"),
  gate: { enum: GATES, description: "Only events that this gate has refused" },
} as const satisfies Record<string, JsonSchema>;

/** The lists that together have the events asked for, each by its own conditions. */
export type EventChoices = {
  readonly lists: readonly (readonly Condition[])[];
  /** Only events of these kinds of origins, for which the lists have no condition; null for all. */
  readonly kinds: readonly OriginKind[] | null;
};

type Query = Readonly<Record<string, unknown>>;

const is = (field: string, value: string): Condition => ({ field, is: "=", value });

/** A merged page reads from each list, so more origins are left to a filter. */
const ORIGIN_LISTS_MAX = 50;

const PREFIXES: Readonly<Record<OriginKind, string>> = { source: "src_", agent: "agt_", system: "" };

/** The ids by which the view can be searched for events of these kinds; null if there are too many, or some may lack. */
const originIds = async (
  views: Pick<ViewStore, "get">,
  account: string,
  kinds: readonly OriginKind[],
): Promise<readonly string[] | null> => {
  const origins = (await documentIn<AccountFacets>(views, events, account))?.origins ?? [];
  // A full list has forgotten the oldest ones.
  if (origins.length >= ORIGINS_MAX) return null;
  const ids = kinds.flatMap((kind): readonly string[] =>
    kind === "system" ? NOTIFICATIONS : origins.filter((id) => id.startsWith(PREFIXES[kind])),
  );
  return ids.length > ORIGIN_LISTS_MAX ? null : ids;
};

const originsOf = async (views: Pick<ViewStore, "get">, account: string, query: Query): Promise<EventChoices> => {
  // The pattern of the parameter has no others.
  const kinds = valuesOf(query.origin) as readonly OriginKind[];
  if (kinds.length === 0 || kinds.length === ORIGIN_KINDS.length) return { lists: [[]], kinds: null };
  // Notifications are rare, and a filter by origin leaves few events.
  const isNarrow = query.source_id !== undefined || query.agent_id !== undefined || query.action !== undefined;
  if (isNarrow || (kinds.includes("source") && kinds.includes("agent"))) return { lists: [[]], kinds };
  const ids = await originIds(views, account, kinds);
  return ids === null ? { lists: [[]], kinds } : { lists: ids.map((id) => [is("origin_id", id)]), kinds: null };
};

export const eventChoices = async (
  views: Pick<ViewStore, "get">,
  account: string,
  query: Query,
): Promise<EventChoices> => {
  const { lists, kinds } = await originsOf(views, account, query);
  const statuses = valuesOf(query.status).map((status) => [is("status", status)]);
  const all = statuses.length === 0 ? [[]] : statuses;
  return { lists: lists.flatMap((origin) => all.map((status) => [...origin, ...status])), kinds };
};

export const gateCondition = ({ gate }: Query): Condition | null =>
  gate === undefined ? null : is("gate", String(gate));

export const eventFilters = (query: Query): readonly Condition[] => {
  const fields = defined({
    source: query.source_id,
    agent: query.agent_id,
    endpoint_id: query.endpoint_id,
    policy_id: query.policy_id,
    run_id: query.run,
    // An event that an agent has requested has the action's name as its type.
    type: query.action,
  });
  return Object.entries(fields).map(([name, value]) =>
    is(name === "source" || name === "agent" ? "origin_id" : name, String(value)),
  );
};
