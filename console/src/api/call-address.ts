export type Query = Readonly<Record<string, string | number | undefined>>;

/** `?a=1&b=2`, without what is undefined or empty; nothing at all if nothing is left. */
export const searchOf = (query: Query): string => {
  const entries = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === "" ? [] : [[name, String(value)] as [string, string]],
  );
  return entries.length === 0 ? "" : `?${new URLSearchParams(entries)}`;
};

/** The path with its placeholders filled in: `/v1/events/{id}`. */
export const pathOf = (path: string, params: Readonly<Record<string, string>>): string =>
  path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ""));

/** The same for all orders of the parameters. */
export const readKey = (address: string): string => {
  const [path = "", search = ""] = address.split("?");
  return `${path}?${search.split("&").sort().join("&")}`;
};
