import { readFile } from "node:fs/promises";
import { errorMessage } from "../error-message.ts";
import { fairSemaphore } from "../fair-semaphore.ts";
import { failed, type Resolve, type Resolved, type ResolveOptions } from "../http/resolve.ts";
import { parseHosts } from "./hosts-file.ts";
import { NameQuery } from "./name-query.ts";
import { candidates, parseResolvConf, type ResolvConf } from "./resolv-conf.ts";

type DnsFiles = { readonly hosts: () => Promise<string>; readonly resolvConf: () => Promise<string> };

export type DnsResolverOptions = {
  readonly files?: DnsFiles;
  readonly servers?: readonly string[];
  readonly lookupsMax?: number;
};

/** A look-up sends two queries at once, and a common forwarder (dnsmasq) refuses more than 150 queries at once. */
const LOOKUPS_MAX = 32;
const FRESH_MS = 5_000;

const textOf = (path: string) => (): Promise<string> => readFile(path, "utf8").catch(() => "");
const SYSTEM_FILES: DnsFiles = { hosts: textOf("/etc/hosts"), resolvConf: textOf("/etc/resolv.conf") };

/** A file is read again after `FRESH_MS`; the call that begins the reading still gets the old content at once. */
const cachedFile = <T>(read: () => Promise<string>, parse: (text: string) => T): (() => Promise<T>) => {
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

/** Names that mean this machine (RFC 6761, section 6.3), so no server is asked for them. */
const LOOPBACK_NAME = /(^|\.)localhost$/;
const LOOPBACK = ["127.0.0.1", "::1"];

type LookUp = { readonly answer: Promise<Resolved>; waiting: number; readonly cancel: () => void };

/**
 * Queries can be cancelled and hold no thread, so names whose servers hang use up only their account's share of
 * look-ups. Answers are not cached: a connection is vetted with the addresses that the name has at that time.
 */
export const dnsResolver = (options: DnsResolverOptions = {}): Resolve => {
  const { files = SYSTEM_FILES, servers, lookupsMax = LOOKUPS_MAX } = options;
  const hosts = cachedFile(files.hosts, parseHosts);
  const conf = cachedFile(files.resolvConf, parseResolvConf);
  const places = fairSemaphore(lookupsMax);
  const underWay = new Map<string, LookUp>();

  const inDns = async (name: string, by: ResolvConf, query: NameQuery, isOver: () => boolean): Promise<Resolved> => {
    let trouble: string | null = null;
    for (const candidate of candidates(name, by)) {
      const answer = await query.ask(candidate);
      if (answer.outcome === "found") return { ok: true, addresses: answer.addresses };
      if (answer.outcome === "absent") continue;
      trouble = answer.code;
      // A server that fails for one candidate (ESERVFAIL) may know the next one; a server that does not answer will
      // not.
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
        return failed(`the DNS cannot be asked: ${errorMessage(error)}`, true);
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
