import type { Json } from "../../../domain/json.ts";
import type { Words } from "../../../domain/personal/words.ts";
import type { EventLog } from "../../../domain/ports/event-log.ts";
import type { ViewStore } from "../../../domain/ports/view-store.ts";
import { type ActionDocument, actions } from "../../../projections/actions.ts";
import { type AgentDocument, agents } from "../../../projections/agents.ts";
import { type ApiKeyDocument, apiKeys } from "../../../projections/api-keys.ts";
import { type EndpointDocument, endpoints } from "../../../projections/endpoints.ts";
import { type MemberDocument, members } from "../../../projections/members.ts";
import { type NewestPolicyDocument, policies } from "../../../projections/policies.ts";
import { type SourceDocument, sources } from "../../../projections/sources.ts";
import type { PersonalData } from "../../erasure/personal-data.ts";
import { documentIn } from "../../views/typed-documents.ts";

export type NameDeps = {
  readonly views: Pick<ViewStore, "get">;
  readonly log: Pick<EventLog, "read">;
  readonly personal: Pick<PersonalData, "shown">;
};

export const KINDS = ["member", "key", "agent", "source", "endpoint", "policy", "action"] as const;
type Kind = (typeof KINDS)[number];

/** `name` is null if it is no longer kept, as a removed member's address. */
export type Named = { readonly kind: Kind; readonly name: string | null; readonly removed: boolean };

type Found = { readonly account: string; readonly name: string | Words; readonly removed?: true } | null;

type Lookup = {
  readonly kind: Kind;
  readonly view: (views: NameDeps["views"], id: string) => Promise<Found>;
  /** The category of the stream that has the names of a removed thing; null if its name is not looked for. */
  readonly stream: string | null;
};

const LOOKUPS: Readonly<Record<string, Lookup>> = {
  mem: {
    kind: "member",
    async view(views, id) {
      const found = await documentIn<MemberDocument>(views, members, id);
      return found === null ? null : { account: found.account, name: found.email };
    },
    stream: null,
  },
  key: { kind: "key", view: (views, id) => documentIn<ApiKeyDocument>(views, apiKeys, id), stream: "apikey" },
  agt: { kind: "agent", view: (views, id) => documentIn<AgentDocument>(views, agents, id), stream: "agent" },
  src: { kind: "source", view: (views, id) => documentIn<SourceDocument>(views, sources, id), stream: "source" },
  end: {
    kind: "endpoint",
    async view(views, id) {
      const found = await documentIn<EndpointDocument>(views, endpoints, id);
      if (found === null) return null;
      const { account, name, deleted } = found;
      return deleted === 1 ? { account, name, removed: true } : { account, name };
    },
    stream: null,
  },
  pol: {
    kind: "policy",
    async view(views, id) {
      const found = await documentIn<NewestPolicyDocument>(views, policies, id);
      return found === null ? null : { account: found.account, name: found.definition.name };
    },
    stream: null,
  },
  act: { kind: "action", view: (views, id) => documentIn<ActionDocument>(views, actions, id), stream: "action" },
};

const ID = /^([a-z]{3})_[a-z2-7]{1,40}$/;
/** Records of a removed thing's stream that are read for its name. */
const RECORDS_MAX = 500;

const textIn = (value: Json | undefined): string | null => (typeof value === "string" ? value : null);

const changedName = (changes: Json | undefined): string | null =>
  typeof changes === "object" && changes !== null && "name" in changes ? textIn(changes.name) : null;

/** Views drop what was removed, but its records keep the name that it had last. */
const removedName = async ({ log }: NameDeps, account: string, stream: string): Promise<Pick<Named, "name"> | null> => {
  const records = await log.read(stream, null, RECORDS_MAX);
  if (records.every(({ meta }) => meta.account !== account)) return null;
  let name: string | null = null;
  for (const { data } of records) name = textIn(data.name) ?? changedName(data.changes) ?? name;
  return { name };
};

/** Null if the account has no such thing and never had. */
const nameOf = async (deps: NameDeps, account: string, id: string): Promise<Named | null> => {
  const prefix = ID.exec(id)?.[1];
  const lookup = prefix !== undefined && Object.hasOwn(LOOKUPS, prefix) ? LOOKUPS[prefix] : undefined;
  if (lookup === undefined) return null;
  const { kind, view, stream } = lookup;
  const found = await view(deps.views, id);
  if (found !== null) {
    if (found.account !== account) return null;
    return { kind, name: await deps.personal.shown(found.name, account), removed: found.removed === true };
  }
  if (stream === null) return null;
  const removed = await removedName(deps, account, `${stream}-${id}`);
  return removed === null ? null : { kind, ...removed, removed: true };
};

/** Ids that have no name are left out. */
export const namesOf = async (
  deps: NameDeps,
  account: string,
  ids: readonly string[],
): Promise<Readonly<Record<string, Named>>> => {
  const named = await Promise.all([...new Set(ids)].map(async (id) => [id, await nameOf(deps, account, id)] as const));
  return Object.fromEntries(named.flatMap(([id, name]) => (name === null ? [] : [[id, name]])));
};
