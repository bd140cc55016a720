import { type Problem, problem } from "../streams/problems.ts";
import { type PresentedCredential, SESSION_COOKIE } from "./authenticate.ts";
import { headerValues } from "./malformed-requests.ts";
import { hasRole, type Principal, type Who } from "./route.ts";

/** Matches a bearer token (RFC 6750, section 2.1). The scheme's name is case-insensitive (RFC 9110, section 11.1). */
const BEARER = /^bearer +([A-Za-z0-9._~+/-]+=*)$/i;

/** Finds a cookie's values. An empty value is left out, because a cleared cookie has none (RFC 6265, section 4.2.1). */
const cookieValues = (header: string, name: string): string[] =>
  header
    .split(";")
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`) && pair.length > name.length + 1)
    .map((pair) => pair.slice(name.length + 1));

/** The token of the session in a header `Cookie`, valid or not; null without one. */
export const sessionToken = (cookie: string): string | null => cookieValues(cookie, SESSION_COOKIE)[0] ?? null;

export const presentedCredential = (
  rawHeaders: readonly string[],
): PresentedCredential | Problem | "unusable" | null => {
  const authorizations = headerValues(rawHeaders, "authorization");
  const cookies = headerValues(rawHeaders, "cookie").flatMap((header) => cookieValues(header, SESSION_COOKIE));
  if (authorizations.length + cookies.length > 1) {
    return problem("mixed-credentials", "Send one credential: a session cookie or one Authorization header.");
  }
  const [cookie] = cookies;
  if (cookie !== undefined) return { kind: "session", token: cookie };
  const [authorization] = authorizations;
  if (authorization === undefined) return null;
  const token = BEARER.exec(authorization)?.[1];
  return token === undefined ? "unusable" : { kind: "bearer", token };
};

const KIND: Readonly<Record<Principal["kind"], string>> = {
  member: "a session",
  key: "an API key",
  agent: "an agent's key",
};

export const forbiddenFor = (principal: Principal, who: Exclude<Who, "anyone">): Problem | null => {
  if (principal.kind === "agent" && who.agent === true) return null;
  const needed = principal.kind === "member" ? who.session : who.key;
  if (needed === undefined || principal.kind === "agent") {
    const others = [who.session && KIND.member, who.key && KIND.key, who.agent && KIND.agent].filter(Boolean);
    return problem("forbidden", `This call needs ${others.join(" or ")}.`);
  }
  return hasRole(principal, needed) ? null : problem("forbidden", `This call needs the role ${needed}.`);
};
