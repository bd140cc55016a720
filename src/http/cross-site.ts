import type { IncomingHttpHeaders } from "node:http";
import { type Problem, problem } from "../streams/problems.ts";

/** RFC 9110, section 9.2.1, of the methods that are routed. */
const SAFE_METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS", "TRACE"]);
export const isUnsafe = (method: string): boolean => !SAFE_METHODS.has(method);

/** Fetch Metadata, section 2.4: what the page's own scripts and the user's own typing send. */
const OWN_SITES: ReadonlySet<string> = new Set(["same-origin", "none"]);

/** Names of this machine: pages of `http://127.0.0.1:8080` are our own where PUBLIC_URL says localhost, as its default does. */
const LOOPBACK = ["127.0.0.1", "[::1]"];

/** Scheme, host and port of PUBLIC_URL first. */
const ownOrigins = (publicUrl: string): readonly string[] => {
  const { protocol, hostname, port, origin } = new URL(publicUrl);
  if (hostname !== "localhost") return [origin];
  return [origin, ...LOOPBACK.map((host) => new URL(`${protocol}//${host}:${port}`).origin)];
};

/** Who is protected: a member by a session, or a visitor without any credential. */
export type Protected = "session" | "visitor";

/**
 * The rule for unsafe calls, which is about cookies: any page can make a browser send the session's, so a call with it must
 * prove that it comes from our own pages. A visitor has to prove nothing, but what a browser says about another site is
 * believed: a login that a foreign page sends would put the visitor into the attacker's account. Calls with a key need
 * no rule, as no page can make a browser add one.
 */
export const crossSite = (
  method: string,
  { origin, "sec-fetch-site": site }: IncomingHttpHeaders,
  who: Protected,
  publicUrl: string,
): Problem | null => {
  if (!isUnsafe(method)) return null;
  if (who === "visitor" && origin === undefined && site === undefined) return null;
  const own = ownOrigins(publicUrl);
  const isOwn = origin === undefined ? typeof site === "string" && OWN_SITES.has(site) : own.includes(origin);
  if (isOwn) return null;
  return problem(
    "cross-site",
    `Send this from the pages of ${own[0]} (PUBLIC_URL), or with an API key instead of a session.`,
  );
};
