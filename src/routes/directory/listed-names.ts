import type { Condition, ViewStore } from "../../../domain/ports/view-store.ts";
import { agents } from "../../../projections/agents.ts";
import { endpoints } from "../../../projections/endpoints.ts";
import { members } from "../../../projections/members.ts";
import { policies } from "../../../projections/policies.ts";
import { sources } from "../../../projections/sources.ts";
import type { PersonalData } from "../../erasure/personal-data.ts";
import { pageIn } from "../../views/typed-documents.ts";
import { shortName } from "./holders.ts";
import type { Named } from "./names.ts";

export const LISTED_KINDS = ["agent", "source", "endpoint", "policy", "member"] as const;
export type ListedKind = (typeof LISTED_KINDS)[number];

/** The most of each kind, so that one call cannot read a large account whole. */
export const LISTED_MAX = 100;

type Deps = { readonly views: Pick<ViewStore, "page">; readonly personal: Pick<PersonalData, "shown"> };
type NamesById = Readonly<Record<string, Named>>;

const LISTS: Readonly<
  Record<ListedKind, (deps: Deps, account: string) => Promise<readonly (readonly [string, string | null])[]>>
> = {
  async agent({ views }, account) {
    const found = await pageIn(views, agents, newest(account, "created_at"));
    return found.map(({ id, document }) => [id, document.name]);
  },
  async source({ views }, account) {
    const found = await pageIn(views, sources, newest(account, "created_at"));
    return found.map(({ id, document }) => [id, document.name]);
  },
  async endpoint({ views }, account) {
    const isThere = { field: "deleted", is: "=", value: 0 } as const;
    const found = await pageIn(views, endpoints, newest(account, "created_at", isThere));
    return found.map(({ id, document }) => [id, document.name]);
  },
  async policy({ views }, account) {
    const found = await pageIn(views, policies, newest(account, "first_at"));
    return found.map(({ id, document }) => [id, document.definition.name]);
  },
  async member({ views, personal }, account) {
    const found = await pageIn(views, members, newest(account, "created_at"));
    const joined = found.filter(({ document: { state } }) => state === "active");
    return Promise.all(
      joined.map(async ({ id, document: { email } }) => [id, shortName(await personal.shown(email, account))] as const),
    );
  },
};

const newest = (account: string, field: string, ...more: readonly Condition[]) => ({
  where: [{ field: "account", is: "=", value: account } as const, ...more],
  sort: { field, order: "desc" } as const,
  limit: LISTED_MAX,
});

/** The names of the newest things of these kinds. */
export const listedNames = async (deps: Deps, account: string, kinds: readonly ListedKind[]): Promise<NamesById> => {
  const lists = await Promise.all(
    kinds.map(async (kind) =>
      (await LISTS[kind](deps, account)).map(([id, name]) => [id, { kind, name, removed: false }]),
    ),
  );
  return Object.fromEntries(lists.flat());
};
