/** Addresses of pages. Pure: the router reads and writes the browser's. */

export type Place = { readonly path: string; readonly query: Readonly<Record<string, string>> };

/** A value that is empty says nothing, and a name that stands there several times has all its values. */
export const queryIn = (search: URLSearchParams): Place["query"] =>
  Object.fromEntries(
    [...new Set(search.keys())].flatMap((name) => {
      const values = new Set(search.getAll(name).filter((it) => it !== ""));
      return values.size === 0 ? [] : [[name, [...values].join(",")] as const];
    }),
  );

/** A record is shown beside the list of records, whose page stays; every other path is a page of its own. */
export const pageOf = (path: string): string => path.replace(/^\/audit\/.*/, "/audit");

export const placeOfUrl = (url: URL): Place => ({
  path: url.pathname.length > 1 ? url.pathname.replace(/\/$/, "") : url.pathname,
  query: queryIn(url.searchParams),
});

/** The address of a place; entries that are undefined or empty are left out. */
export const hrefOf = (path: string, query: Readonly<Record<string, string | undefined>> = {}): string => {
  const search = new URLSearchParams(
    Object.entries(query).flatMap(([name, value]) => (value ? [[name, value] as [string, string]] : [])),
  ).toString();
  return search === "" ? path : `${path}?${search}`;
};

/** What the placeholders of a pattern such as `/events/{id}` stand for; null if the path is another. */
export const matched = (pattern: string, path: string): Readonly<Record<string, string>> | null => {
  const [wanted, given] = [pattern.split("/"), path.split("/")];
  if (wanted.length !== given.length) return null;
  const params: Record<string, string> = {};
  for (const [at, part] of wanted.entries()) {
    const text = given[at] ?? "";
    const name = /^\{(\w+)\}$/.exec(part)?.[1];
    if (name === undefined) {
      if (part !== text) return null;
    } else if (text === "") return null;
    else {
      try {
        params[name] = decodeURIComponent(text);
      } catch {
        return null;
      }
    }
  }
  return params;
};

/** Links of the console before, which were fragments: `#/events/evt_1?status=failed`. */
export const addressOfOldLink = (hash: string): string | null => (hash.startsWith("#/") ? hash.slice(1) : null);

/** Asks only who is signed in: a member goes on from there, and a visitor is shown the form. */
export const SIGN_IN = "/sign-in";

/** The pages of one-time links. They ask nothing of a session, whoever has one. */
export const LINK_PATHS = ["/start", "/join", "/reset"] as const;
export type LinkPath = (typeof LINK_PATHS)[number];
export const isLinkPath = (path: string): path is LinkPath => LINK_PATHS.some((it) => it === path);

/** Where a member begins. */
export const HOME = "/overview";

/** Where a form leads back to: only an address of this console, never another host's. */
export const safeReturn = (to: string | undefined): string =>
  to !== undefined && /^\/(?![/\\])/.test(to) && !to.startsWith(SIGN_IN) ? to : HOME;
