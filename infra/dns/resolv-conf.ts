import { isIP } from "node:net";

/** The fields have the meanings of resolv.conf(5). */
export type ResolvConf = {
  readonly servers: readonly string[];
  /** Domains to append to a name. The longer names are tried after it, or first if it has fewer dots than `ndots`. */
  readonly search: readonly string[];
  readonly ndots: number;
  readonly timeoutMs: number;
  readonly attempts: number;
};

/** The C library has the same limits (resolv.conf(5)). */
const SERVERS_MAX = 3;
const SEARCH_MAX = 16;
const NDOTS_MAX = 15;
const TIMEOUT_S_MAX = 30;
const ATTEMPTS_MAX = 5;
/** The timeout if the file has none. The C library waits 5 s; less leaves time to ask another server. */
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

/** The names to ask for, one after another, until one of them exists (resolv.conf(5), "search" and "ndots"). */
export const candidates = (
  name: string,
  { search, ndots }: Pick<ResolvConf, "search" | "ndots">,
): readonly string[] => {
  const dots = name.split(".").length - 1;
  const longer = search.map((domain) => `${name}.${domain}`);
  return dots >= ndots ? [name, ...longer] : [...longer, name];
};
