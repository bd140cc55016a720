const URL_PARTS = /^(mongodb(?:\+srv)?:\/\/[^/?]+)(?:\/([^?]*))?(?:\?(.*))?$/;
/** MongoDB's own limit is 63 bytes. */
const BASE_MAX = 40;
const UNNAMED = "countersign";

/**
 * The URL of another database of the same deployment, named after the one in `url`. By hand: several hosts in one URL are
 * none by the standard (MongoDB manual, Connection Strings). Throws on what is no URL of MongoDB.
 */
export const databaseBeside = (url: string, suffix: string): string => {
  const [, servers, path = "", query = ""] = URL_PARTS.exec(url) ?? [];
  if (servers === undefined) throw new Error("this is no URL of a MongoDB");
  const options = new URLSearchParams(query);
  // Whoever signs in does so at the database of the path unless told otherwise, and is known there alone.
  if (servers.includes("@") && path !== "" && !options.has("authSource")) options.set("authSource", path);
  const tail = options.size === 0 ? "" : `?${options}`;
  return `${servers}/${(path || UNNAMED).slice(0, BASE_MAX)}_${suffix}${tail}`;
};
