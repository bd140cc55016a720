import { isIP } from "node:net";
import { cidr, contains, parseAddress, parseCidr } from "./cidr.ts";
import type { Resolve } from "./resolve.ts";
import { specialRule } from "./special-addresses.ts";

export type Target = {
  readonly secure: boolean;
  /** The name or IP address in lower case, without brackets and without a trailing dot. */
  readonly hostname: string;
  readonly port: number;
  readonly origin: string;
  readonly path: string;
};

export type Refusal = {
  readonly ok: false;
  readonly host: string;
  readonly address: string | null;
  readonly rule: string;
};

type AllowedUrl = { readonly ok: true; readonly url: string };

export type AddressRules = {
  /** A URL whose name does not resolve is allowed, because each connect vets the name's addresses again. */
  vetUrl(url: string, account: string): Promise<AllowedUrl | Refusal>;
  /** Refuses the name if any of its addresses is refused, because a connect may take any of them. */
  vetHost(hostname: string, addresses: readonly string[]): { readonly ok: true } | Refusal;
};

/** Many receivers and proxies refuse longer URLs, although RFC 9110, section 4.1, recommends to take 8,000. */
export const URL_LENGTH_MAX = 2_048;
const RESOLVE_LIMIT_MS = 2_000;

/** These names mean something only inside a network: RFC 6761, 6762, 8375 and ICANN's `.internal`. */
const LOCAL_NAME = /(^|\.)(localhost|localdomain|local|internal|home\.arpa)$/;

const IPV4_LOOPBACK = cidr("127.0.0.1/32");
const IPV6_LOOPBACK = cidr("::1/128");

const refused = (rule: string, host: string, address: string | null = null): Refusal => ({
  ok: false,
  host,
  address,
  rule,
});

/** `URL` has already turned IPv4 in decimal, octal, hexadecimal, short or full-width form into dotted quads. */
const hostnameOf = (url: URL): string => url.hostname.replace(/^\[|\]$/g, "").replace(/\.+$/, "");

export const targetOf = (text: string): { readonly ok: true; readonly target: Target } | Refusal => {
  if (text.length > URL_LENGTH_MAX) return refused("too-long", "");
  // `URL` strips blanks and line ends, so the request would not go to what was written.
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

export const isLoopback = (text: string): boolean => parseAddress(text)?.range() === "loopback";

export const isCidr = (text: string): boolean => parseCidr(text) !== null;

export const addressRules = (allowCidrs: readonly string[], resolve: Resolve): AddressRules => {
  const named = allowCidrs.map((text) => {
    const parsed = parseCidr(text);
    if (parsed === null) throw new Error(`${text} is not an address range such as 127.0.0.0/8`);
    return parsed;
  });
  // `localhost` names the loopbacks of IPv4 and IPv6, so a range that opens the first opens the second as well.
  const loopback = named.some((range) => contains(range, IPV4_LOOPBACK.network));
  const opened = loopback ? [...named, IPV6_LOOPBACK] : named;

  const judge = (text: string): { readonly opened: boolean; readonly rule: string | null } => {
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
