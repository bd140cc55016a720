import { isIP } from "node:net";
import { cidr, contains, parseAddress, parseCidr } from "./cidr.ts";
import type { Resolve } from "./resolve.ts";
import { specialRule } from "./special-addresses.ts";

/** Where a request goes, out of a URL that is allowed as far as its text tells. */
export type Target = {
  readonly secure: boolean;
  /** Without brackets, without a trailing dot, in lower case. */
  readonly hostname: string;
  readonly port: number;
  /** `https://example.com:8443`, as `URL` writes it. */
  readonly origin: string;
  /** With the query. */
  readonly path: string;
};

export type Refused = {
  readonly ok: false;
  readonly host: string;
  /** Null when the URL's text is enough to refuse it. */
  readonly address: string | null;
  readonly rule: string;
};

type Vetted = { readonly ok: true; readonly url: string };

export type AddressRules = {
  /** For registration by an account: names are resolved, and one that does not resolve is left to the rule at connect. */
  vetUrl(url: string, account: string): Promise<Vetted | Refused>;
  /** For each connect: every address of the name must be allowed, since any of them could be the one taken. */
  vetHost(hostname: string, addresses: readonly string[]): { readonly ok: true } | Refused;
};

/** Longer ones are refused by many receivers and proxies as well (RFC 9110, section 4.1 asks for 8000 at least). */
export const URL_LENGTH_MAX = 2_048;
/** A registration waits this long for a resolver. */
const RESOLVE_LIMIT_MS = 2_000;

/** RFC 6761, 6762, 8375 and ICANN's `.internal`: names that mean something inside a network only. */
const LOCAL_NAME = /(^|\.)(localhost|localdomain|local|internal|home\.arpa)$/;

const IPV4_LOOPBACK = cidr("127.0.0.1/32");
const IPV6_LOOPBACK = cidr("::1/128");

const refused = (rule: string, host: string, address: string | null = null): Refused => ({
  ok: false,
  host,
  address,
  rule,
});

/** `URL` has already made dotted quads of decimal, octal, hexadecimal, short and full-width forms. */
const hostnameOf = (url: URL): string => url.hostname.replace(/^\[|\]$/g, "").replace(/\.+$/, "");

/** What can be said of a URL without a look-up. */
export const targetOf = (text: string): { readonly ok: true; readonly target: Target } | Refused => {
  if (text.length > URL_LENGTH_MAX) return refused("too-long", "");
  // `URL` strips blanks and line ends: what was written must be what is called.
  if (/[\s\p{Cc}]/u.test(text) || !URL.canParse(text)) return refused("not-a-url", "");
  const url = new URL(text);
  const hostname = hostnameOf(url);
  if (url.protocol !== "https:" && url.protocol !== "http:") return refused("scheme", hostname);
  if (url.username !== "" || url.password !== "") return refused("userinfo", hostname);
  if (hostname === "") return refused("not-a-url", hostname);
  const secure = url.protocol === "https:";
  const port = url.port === "" ? (secure ? 443 : 80) : Number(url.port);
  return { ok: true, target: { secure, hostname, port, origin: url.origin, path: url.pathname + url.search } };
};

/** An address of this machine for itself (RFC 1122, section 3.2.1.3; RFC 4291, section 2.5.3). */
export const isLoopback = (text: string): boolean => parseAddress(text)?.range() === "loopback";

/** `127.0.0.0/8`, `fd00::/8`: what DELIVERY_ALLOW_CIDRS may hold. */
export const isCidr = (text: string): boolean => parseCidr(text) !== null;

/** `allowCidrs` opens ranges that are refused otherwise; throws for one that is none. */
export const addressRules = (allowCidrs: readonly string[], resolve: Resolve): AddressRules => {
  const named = allowCidrs.map((text) => {
    const parsed = parseCidr(text);
    if (parsed === null) throw new Error(`${text} is not an address range such as 127.0.0.0/8`);
    return parsed;
  });
  // `localhost` names both loopbacks, so whoever opens the one to reach it means the other as well.
  const loopback = named.some((range) => contains(range, IPV4_LOOPBACK.network));
  const opened = loopback ? [...named, IPV6_LOOPBACK] : named;

  /** "opened" is what DELIVERY_ALLOW_CIDRS named. */
  const judge = (text: string): { readonly opened: boolean; readonly rule: string | null } => {
    // A zone (`fe80::1%eth0`) is a matter of this machine's links.
    if (text.includes("%")) return { opened: false, rule: "link-local" };
    const address = parseAddress(text);
    if (address === null) return { opened: false, rule: "not-an-address" };
    if (opened.some((range) => contains(range, address))) return { opened: true, rule: null };
    return { opened: false, rule: specialRule(address) };
  };

  const vetHost: AddressRules["vetHost"] = (hostname, addresses) => {
    const local = LOCAL_NAME.test(hostname);
    for (const address of addresses) {
      const judged = judge(address);
      if (judged.rule !== null) return refused(judged.rule, hostname, address);
      if (local && !judged.opened) return refused("local-name", hostname, address);
    }
    return local && addresses.length === 0 ? refused("local-name", hostname) : { ok: true };
  };

  return {
    vetHost,
    async vetUrl(url, account) {
      const parsed = targetOf(url);
      if (!parsed.ok) return parsed;
      const { hostname } = parsed.target;
      if (isIP(hostname) !== 0) {
        const vetted = vetHost(hostname, [hostname]);
        return vetted.ok ? { ok: true, url } : vetted;
      }
      const resolved = await resolve(hostname, { account, limitMs: RESOLVE_LIMIT_MS });
      const vetted = vetHost(hostname, resolved.ok ? resolved.addresses : []);
      return vetted.ok ? { ok: true, url } : vetted;
    },
  };
};
