const URL_PARTS = /^(mongodb(?:\+srv)?:\/\/[^/?]+)(?:\/([^?]*))?(?:\?(.*))?$/;
const BASE_MAX = 40;
const UNNAMED = "countersign";

/**
 * The URL of another database on the same deployment. It is built by hand, because several hosts in one URL do not fit
 * the URL standard (MongoDB manual, Connection Strings). Throws if `url` is not a MongoDB's.
 */
export const databaseBeside = (url: string, suffix: string): string => {
  const [, servers, path = "", query = ""] = URL_PARTS.exec(url) ?? [];
  if (servers === undefined) throw new Error("this is no URL of a MongoDB");
  const options = new URLSearchParams(query);
  // The users are known in the database that the path of `url` names, unless `authSource` names another.
  if (servers.includes("@") && path !== "" && !options.has("authSource")) options.set("authSource", path);
  const tail = options.size === 0 ? "" : `?${options}`;
  return `${servers}/${(path || UNNAMED).slice(0, BASE_MAX)}_${suffix}${tail}`;
};
