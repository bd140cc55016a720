import type { IncomingHttpHeaders } from "node:http";
import { type Problem, problem } from "../streams/problems.ts";

/** Methods that change nothing (RFC 9110, section 9.2.1). */
const SAFE_METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS", "TRACE"]);
export const isUnsafe = (method: string): boolean => !SAFE_METHODS.has(method);

/** Values of Sec-Fetch-Site for a page's calls of its own server and for typed addresses (Fetch Metadata, 2.4). */
const OWN_SITES: ReadonlySet<string> = new Set(["same-origin", "none"]);

const LOOPBACK = ["127.0.0.1", "[::1]"];

const ownOrigins = (publicUrl: string): readonly string[] => {
  const { protocol, hostname, port, origin } = new URL(publicUrl);
  if (hostname !== "localhost") return [origin];
  return [origin, ...LOOPBACK.map((host) => new URL(`${protocol}//${host}:${port}`).origin)];
};

export type Protected = "session" | "visitor";

/**
 * Any page can make a browser send the session's cookie, so an unsafe call with it must prove that it comes from our
 * own pages. A visitor proves nothing, but is refused if the browser names another site: that site could log the
 * visitor in to an attacker's account. No page can make a browser add an API key, so calls with a key pass.
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
