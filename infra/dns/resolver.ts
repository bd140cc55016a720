import { readFile } from "node:fs/promises";
import type { Resolve, Resolved, ResolveOptions } from "../http/resolve.ts";
import { windowOf } from "../window.ts";
import { parseHosts } from "./hosts-file.ts";
import { NameQuery } from "./name-query.ts";
import { candidates, parseResolvConf, type ResolvConf } from "./resolv-conf.ts";

/** Texts of the files that say how names are resolved; a file that cannot be read is an empty text. */
type DnsFiles = { readonly hosts: () => Promise<string>; readonly resolvConf: () => Promise<string> };

export type DnsResolverOptions = {
  readonly files?: DnsFiles;
  /** Addresses, with a port if it is not 53: instead of those of resolv.conf. */
  readonly servers?: readonly string[];
  /** Look-ups under way at once, as `LOOKUPS_MAX`. */
  readonly lookupsMax?: number;
};

/**
 * Look-ups under way at once, with two queries each; one account has half at most. A common forwarder (dnsmasq) takes 150
 * queries at once before it refuses everybody's.
 */
const LOOKUPS_MAX = 32;
/** Changes of the files are seen within this time. */
const FRESH_MS = 5_000;

const textOf = (path: string) => (): Promise<string> => readFile(path, "utf8").catch(() => "");
const SYSTEM_FILES: DnsFiles = { hosts: textOf("/etc/hosts"), resolvConf: textOf("/etc/resolv.conf") };

/** What a file says, read again in the background when it was read some time ago. */
const fresh = <T>(read: () => Promise<string>, parse: (text: string) => T): (() => Promise<T>) => {
  let known: Promise<T> | null = null;
  let readAt = 0;
  return () => {
    const now = performance.now();
    if (known !== null && now - readAt < FRESH_MS) return known;
    readAt = now;
    const next = read().then(parse);
    const before = known;
    known = next;
    return before ?? next;
  };
};

/** RFC 6761, section 6.3: the name and all names below it are this machine, and nobody is asked for them. */
const LOOPBACK_NAME = /(^|\.)localhost$/;
const LOOPBACK = ["127.0.0.1", "::1"];

const failed = (detail: string, isOurs: boolean): Resolved => ({ ok: false, detail, isOurs });

/** One look-up, and how many callers wait for it. */
type LookUp = { readonly answer: Promise<Resolved>; waiting: number; readonly cancel: () => void };

/**
 * Resolves names with queries of its own, which can be cancelled and hold no thread: a name whose servers hang holds up
 * nothing but its account's share. What getaddrinfo would add is read as well: /etc/hosts, and the search domains and `ndots`
 * of resolv.conf. Callers of one account that want the same name at once share one look-up. Nothing is remembered: each
 * connection is vetted with what the name means at that moment.
 */
export const dnsResolver = (options: DnsResolverOptions = {}): Resolve => {
  const { files = SYSTEM_FILES, servers, lookupsMax = LOOKUPS_MAX } = options;
  const hosts = fresh(files.hosts, parseHosts);
  const conf = fresh(files.resolvConf, parseResolvConf);
  const places = windowOf(lookupsMax);
  const underWay = new Map<string, LookUp>();

  const inDns = async (name: string, by: ResolvConf, query: NameQuery, isOver: () => boolean): Promise<Resolved> => {
    let trouble: string | null = null;
    for (const candidate of candidates(name, by)) {
      const answer = await query.ask(candidate);
      if (answer.outcome === "found") return { ok: true, addresses: answer.addresses };
      if (answer.outcome === "absent") continue;
      trouble = answer.code;
      // A server that cannot tell of one name may know the next one; one that does not answer will not.
      if (isOver() || answer.code !== "ESERVFAIL") break;
    }
    return trouble === null
      ? failed("the name has no address", false)
      : failed(`no answer from the DNS: ${trouble}`, true);
  };

  const begin = (key: string, name: string, { account, limitMs }: ResolveOptions): LookUp => {
    const over = new AbortController();
    const late = setTimeout(() => over.abort(), limitMs);
    const run = async (): Promise<Resolved> => {
      if (!(await places.enter(account, limitMs)))
        return failed("too many names are being resolved for this account", true);
      try {
        if (over.signal.aborted) return failed("given up", true);
        const read = await conf();
        const by = servers === undefined ? read : { ...read, servers };
        const query = new NameQuery(by);
        over.signal.addEventListener("abort", () => query.cancel(), { once: true });
        if (over.signal.aborted) return failed("given up", true);
        return await inDns(name, by, query, () => over.signal.aborted);
      } catch (error) {
        return failed(`the DNS cannot be asked: ${error instanceof Error ? error.message : String(error)}`, true);
      } finally {
        places.leave(account);
      }
    };
    const answer = run().finally(() => {
      clearTimeout(late);
      if (underWay.get(key) === lookUp) underWay.delete(key);
    });
    const cancel = (): void => {
      over.abort();
      if (underWay.get(key) === lookUp) underWay.delete(key);
    };
    const lookUp: LookUp = { answer, waiting: 0, cancel };
    return lookUp;
  };

  /** The look-up is cancelled when nobody waits for it any more. */
  const waitFor = (lookUp: LookUp, { limitMs, signal }: ResolveOptions): Promise<Resolved> =>
    new Promise((resolve) => {
      let isSettled = false;
      lookUp.waiting += 1;
      const settle = (resolved: Resolved): void => {
        if (isSettled) return;
        isSettled = true;
        clearTimeout(timer);
        signal?.removeEventListener("abort", giveUp);
        lookUp.waiting -= 1;
        if (lookUp.waiting === 0) lookUp.cancel();
        resolve(resolved);
      };
      const giveUp = (): void => settle(failed("given up", true));
      const timer = setTimeout(() => settle(failed(`not resolved within ${limitMs} ms`, true)), limitMs);
      signal?.addEventListener("abort", giveUp, { once: true });
      void lookUp.answer.then(settle);
    });

  return async (hostname, given) => {
    const name = hostname.toLowerCase();
    const listed = (await hosts()).get(name);
    if (listed !== undefined) return { ok: true, addresses: listed };
    if (LOOPBACK_NAME.test(name)) return { ok: true, addresses: LOOPBACK };
    const key = `${given.account} ${name}`;
    let lookUp = underWay.get(key);
    if (lookUp === undefined) {
      lookUp = begin(key, name, given);
      underWay.set(key, lookUp);
    }
    return waitFor(lookUp, given);
  };
};
