const URL_PARTS = /^(mongodb(?:\+srv)?:\/\/[^/?]+)(?:\/([^?]*))?(?:\?(.*))?$/;
const BASE_MAX = 40;
const UNNAMED = "countersign";

/**
 * The URL of another database on the same deployment. Built by hand, because several hosts in one URL do not fit the
 * URL standard (MongoDB manual, Connection Strings). Throws for any other URL.
 */
export const databaseBeside = (url: string, suffix: string): string => {
  const [, servers, path = "", query = ""] = URL_PARTS.exec(url) ?? [];
  if (servers === undefined) throw new Error("this is no URL of a MongoDB");
  const options = new URLSearchParams(query);
  // Users are known in the database of the path unless the URL names another.
  if (servers.includes("@") && path !== "" && !options.has("authSource")) options.set("authSource", path);
  const tail = options.size === 0 ? "" : `?${options}`;
  return `${servers}/${(path || UNNAMED).slice(0, BASE_MAX)}_${suffix}${tail}`;
};
