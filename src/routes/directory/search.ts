import type { Document, ViewStore } from "../../../domain/ports/view-store.ts";
import { actions } from "../../../projections/actions.ts";
import { agents } from "../../../projections/agents.ts";
import { apiKeys } from "../../../projections/api-keys.ts";
import { approvals } from "../../../projections/approvals.ts";
import { bundles } from "../../../projections/bundles.ts";
import { endpoints } from "../../../projections/endpoints.ts";
import { events } from "../../../projections/events.ts";
import { members } from "../../../projections/members.ts";
import { policies } from "../../../projections/policies.ts";
import { replays } from "../../../projections/replays.ts";
import { sources } from "../../../projections/sources.ts";
import type { PersonalData } from "../../erasure/personal-data.ts";
import { hasRole, type Principal } from "../../http/route.ts";

export type SearchDeps = {
  readonly views: Pick<ViewStore, "get" | "page">;
  readonly personal: Pick<PersonalData, "shown">;
};

/** `name` is null for what has none, such as an event. `state` is null for what has no states. */
export type Hit = {
  readonly id: string;
  readonly kind: string;
  readonly name: string | null;
  readonly state: string | null;
};

export const HITS_MAX = 20;
/** Things of one kind that are looked through for a name: more than the largest plan has. */
const LOOKED_AT_MAX = 1_000;

type Searched = {
  readonly kind: string;
  readonly prefix: string;
  readonly view: string;
  /** The field by which names are listed; null if things of this kind are found by their ids alone. */
  readonly sort: string | null;
  readonly name: (document: Document) => unknown;
  readonly state: (document: Document) => unknown;
  readonly isVisible?: (principal: Principal) => boolean;
};

const status = ({ status: it }: Document): unknown => it;
const name = ({ name: it }: Document): unknown => it;
const none = (): null => null;

const memberOf = (value: unknown, member: string): unknown =>
  typeof value === "object" && value !== null && Object.hasOwn(value, member)
    ? (value as Readonly<Record<string, unknown>>)[member]
    : null;

const endpointState = ({ disabled, circuit }: Document): unknown =>
  disabled === null ? memberOf(circuit, "state") : "disabled";

const isAdmin = (principal: Principal): boolean => principal.kind === "member" && hasRole(principal, "admin");
const isOwner = (principal: Principal): boolean => principal.kind === "member" && hasRole(principal, "owner");

/** Members and keys are found by who may list them (`accounts/members.ts`, `accounts/api-keys.ts`). */
const SEARCHED: readonly Searched[] = [
  { kind: "agent", prefix: "agt_", view: agents.schema.name, sort: "created_at", name, state: status },
  { kind: "source", prefix: "src_", view: sources.schema.name, sort: "created_at", name, state: status },
  { kind: "endpoint", prefix: "end_", view: endpoints.schema.name, sort: "created_at", name, state: endpointState },
  {
    ...{ kind: "policy", prefix: "pol_", view: policies.schema.name, sort: "first_at", state: none },
    name: ({ definition }) => memberOf(definition, "name"),
  },
  { kind: "action", prefix: "act_", view: actions.schema.name, sort: "name", name, state: none },
  { kind: "key", prefix: "key_", view: apiKeys.schema.name, sort: "created_at", name, state: none, isVisible: isAdmin },
  {
    ...{ kind: "member", prefix: "mem_", view: members.schema.name, sort: "created_at", isVisible: isOwner },
    name: ({ email }) => email,
    state: ({ state }) => state,
  },
  { kind: "event", prefix: "evt_", view: events.schema.name, sort: null, name: ({ type }) => type, state: status },
  { kind: "bundle", prefix: "bun_", view: bundles.schema.name, sort: null, name, state: status },
  {
    kind: "approval",
    prefix: "apr_",
    view: approvals.schema.name,
    sort: null,
    name: ({ summary }) => summary,
    state: status,
  },
  { kind: "replay", prefix: "rpl_", view: replays.schema.name, sort: null, name: none, state: status },
];

const textOf = (value: unknown): string | null => (typeof value === "string" && value !== "" ? value : null);

const hitOf = (it: Searched, id: string, document: Document): Hit => ({
  id,
  kind: it.kind,
  name: textOf(it.name(document)),
  state: textOf(it.state(document)),
});

const isThere = ({ account, deleted }: Document, own: string): boolean => account === own && deleted !== 1;

/** Members are named by their addresses, of which the view has the commitments. */
const readable = async (personal: SearchDeps["personal"], { kind }: Searched, document: Document): Promise<Document> =>
  kind === "member" ? personal.shown(document, String(document.account)) : document;

const byId = async (
  { views, personal }: SearchDeps,
  it: Searched,
  account: string,
  id: string,
): Promise<readonly Hit[]> => {
  if (!id.startsWith(it.prefix)) return [];
  const document = await views.get(it.view, id);
  if (document === null || !isThere(document, account)) return [];
  return [hitOf(it, id, await readable(personal, it, document))];
};

const byName = async (
  { views, personal }: SearchDeps,
  it: Searched,
  account: string,
  text: string,
): Promise<readonly Hit[]> => {
  if (it.sort === null) return [];
  const where = [{ field: "account", is: "=", value: account }] as const;
  const sort = { field: it.sort, order: "asc" } as const;
  const found = await views.page(it.view, { where, sort, limit: LOOKED_AT_MAX });
  const there = found.filter(({ document }) => isThere(document, account));
  const hits = await Promise.all(
    there.map(async ({ id, document }) => hitOf(it, id, await readable(personal, it, document))),
  );
  return hits.filter((hit) => hit.name?.toLowerCase().includes(text) === true || hit.id.startsWith(text));
};

/** Names that begin with the text come first. */
const rank = ({ name: shown }: Hit, text: string): number => (shown?.toLowerCase().startsWith(text) === true ? 0 : 1);

export const search = async (deps: SearchDeps, principal: Principal, q: string): Promise<readonly Hit[]> => {
  const text = q.trim().toLowerCase();
  if (text === "") return [];
  const visible = SEARCHED.filter(({ isVisible = () => true }) => isVisible(principal));
  const { account } = principal;
  const exact = (await Promise.all(visible.map((it) => byId(deps, it, account, q.trim())))).flat();
  if (exact.length > 0) return exact;
  const named = (await Promise.all(visible.map((it) => byName(deps, it, account, text)))).flat();
  return named.sort((a, b) => rank(a, text) - rank(b, text)).slice(0, HITS_MAX);
};
