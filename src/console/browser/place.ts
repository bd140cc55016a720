/** The page that the address's fragment names, such as `#/events/evt_…?status=failed`. */
export type Place = {
  readonly page: string;
  readonly id: string | null;
  readonly query: Readonly<Record<string, string>>;
};

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

export const placeOf = (hash: string): Place => {
  const [path = "", search = ""] = hash.replace(/^#?\/?/, "").split(/\?(.*)/s);
  const [page = "", id = ""] = path.split("/");
  return {
    page: page === "" ? "events" : page,
    id: id === "" ? null : decoded(id),
    query: Object.fromEntries(new URLSearchParams(search)),
  };
};

/** A query string with its question mark, without empty parameters; "" if no parameter is left. */
export const searchOf = (query: Readonly<Record<string, string | undefined>>): string => {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined && value !== "") given.set(name, value);
  return given.size === 0 ? "" : `?${given}`;
};

export const hrefOf = (
  page: string,
  id?: string | null,
  query: Readonly<Record<string, string | undefined>> = {},
): string => `#/${page}${id === undefined || id === null ? "" : `/${encodeURIComponent(id)}`}${searchOf(query)}`;
