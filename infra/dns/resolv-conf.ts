import { isIP } from "node:net";

/** How names are asked for, as resolv.conf(5) says it. */
export type ResolvConf = {
  /** Empty: those that the platform uses. */
  readonly servers: readonly string[];
  /** Domains that are tried after a name, or before it if it has fewer dots than `ndots`. */
  readonly search: readonly string[];
  readonly ndots: number;
  /** The first wait for a server. */
  readonly timeoutMs: number;
  /** How often each server is asked. */
  readonly attempts: number;
};

/** resolv.conf(5) names the same limits of the C library. */
const SERVERS_MAX = 3;
const SEARCH_MAX = 16;
const NDOTS_MAX = 15;
const TIMEOUT_S_MAX = 30;
const ATTEMPTS_MAX = 5;
/** Below the 5 s of the C library: a server that does not answer leaves time to ask another one for the same attempt. */
const TIMEOUT_MS = 1_500;
const ATTEMPTS = 2;

const optionIn = (options: readonly string[], name: string, max: number): number | null => {
  const text = options.findLast((option) => option.startsWith(`${name}:`))?.slice(name.length + 1);
  return text === undefined || !/^\d{1,4}$/.test(text) ? null : Math.min(max, Number(text));
};

export const parseResolvConf = (text: string): ResolvConf => {
  const servers: string[] = [];
  const options: string[] = [];
  let search: readonly string[] = [];
  for (const line of text.split("\n")) {
    const [keyword = "", ...values] = line
      .replace(/[#;].*$/, "")
      .trim()
      .split(/\s+/);
    if (keyword === "nameserver") servers.push(...values.slice(0, 1).filter((it) => isIP(it) !== 0));
    // The last of both counts.
    else if (keyword === "search") search = values;
    else if (keyword === "domain") search = values.slice(0, 1);
    else if (keyword === "options") options.push(...values);
  }
  const timeoutS = optionIn(options, "timeout", TIMEOUT_S_MAX);
  return {
    servers: servers.slice(0, SERVERS_MAX),
    search: search
      .map((domain) => domain.toLowerCase().replace(/^\.+|\.+$/g, ""))
      .filter((domain) => domain !== "")
      .slice(0, SEARCH_MAX),
    ndots: optionIn(options, "ndots", NDOTS_MAX) ?? 1,
    timeoutMs: timeoutS === null || timeoutS === 0 ? TIMEOUT_MS : timeoutS * 1_000,
    attempts: Math.max(1, optionIn(options, "attempts", ATTEMPTS_MAX) ?? ATTEMPTS),
  };
};

/** The names that are asked for one after another, until one is there (resolv.conf(5), "search" and "ndots"). */
export const candidates = (
  name: string,
  { search, ndots }: Pick<ResolvConf, "search" | "ndots">,
): readonly string[] => {
  const dots = name.split(".").length - 1;
  const longer = search.map((domain) => `${name}.${domain}`);
  return dots >= ndots ? [name, ...longer] : [...longer, name];
};
