import { didYouMean } from "../../domain/did-you-mean.ts";
import { allPages } from "./all-pages.ts";
import type { Api, Query } from "./api.ts";
import { RESOURCES, type Resource } from "./resources.ts";

type Item = { readonly id: string; readonly name?: string; readonly email?: string };

/** Names need not be unique, so one that several things have is an error. */
const byName = async <T extends Item>(api: Api, { name, one, path, named }: Resource, text: string): Promise<T> => {
  const items = await allPages<T>(api, path);
  const nameOf = (item: T): string => (named === undefined ? "" : (item[named.by] ?? ""));
  const [item, ...others] = items.filter((it) => nameOf(it) === text);
  if (item === undefined) {
    const names = items.map(nameOf);
    const there = names.length === 0 ? `The account has no ${one}.` : `There are: ${names.join(", ")}.`;
    throw new Error(`There is no ${one} "${text}".${didYouMean(text, names)} ${there}`);
  }
  if (others.length > 0) {
    const ids = [item, ...others].map(({ id }) => id);
    throw new Error(`Several ${name} are called "${text}": use one of the ids ${ids.join(", ")}.`);
  }
  return item;
};

const isId = ({ named }: Resource, text: string): boolean => named === undefined || text.startsWith(named.prefix);

/** The id of what has this id or name. An id is not looked up, so it may be unknown to the service. */
export const idOfNamed = async (api: Api, resource: Resource, text: string): Promise<string> =>
  isId(resource, text) ? text : (await byName(api, resource, text)).id;

const resourceOf = (name: string): Resource => {
  const found = RESOURCES.find((it) => it.name === name);
  if (found === undefined) throw new TypeError(`there is no resource ${name}`);
  return found;
};

export type Source = Item & { readonly name: string; readonly type: string };

export const findSource = async (api: Api, text: string): Promise<Source> => {
  const resource = resourceOf("sources");
  if (!isId(resource, text)) return byName<Source>(api, resource, text);
  return api.get<Source>(`${resource.path}/${encodeURIComponent(text)}`);
};

const FILTERED = { source_id: "sources", agent_id: "agents", endpoint_id: "endpoints" } as const;

/** The query with ids in place of names. */
export const withIds = async <Q extends Query>(api: Api, query: Q): Promise<Q> => {
  const ids: Record<string, string> = {};
  for (const [parameter, name] of Object.entries(FILTERED)) {
    const value = query[parameter];
    if (typeof value === "string" && value !== "") ids[parameter] = await idOfNamed(api, resourceOf(name), value);
  }
  return { ...query, ...ids };
};
