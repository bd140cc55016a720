import type { IncomingHttpHeaders } from "node:http";
import { type Problem, problem } from "../problems.ts";

/** RFC 9110, section 9.2.1, of the methods that are routed. */
const SAFE_METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS", "TRACE"]);
export const isUnsafe = (method: string): boolean => !SAFE_METHODS.has(method);

/** Fetch Metadata, section 2.4: what the page's own scripts and the user's own typing send. */
const OWN_SITES: ReadonlySet<string> = new Set(["same-origin", "none"]);

/**
 * The rule for unsafe calls. With a session cookie they must prove that they come from our own pages: any
 * page can make a browser send the cookie. Without one nothing has to be proven, but what a browser says about another
 * site is believed: a login that a foreign page sends would put the visitor into the attacker's account.
 */
export const crossSite = (
  method: string,
  headers: IncomingHttpHeaders,
  withSession: boolean,
  ownOrigin: string,
): Problem | null => {
  if (!isUnsafe(method)) return null;
  const site = headers["sec-fetch-site"];
  const { origin } = headers;
  if (typeof site === "string" && OWN_SITES.has(site)) return null;
  if (origin === ownOrigin) return null;
  if (!withSession && site === undefined && origin === undefined) return null;
  return problem("cross-site", `Send this from the pages of ${ownOrigin}, or with an API key instead of a session.`);
};
