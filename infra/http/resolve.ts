import { lookup as systemLookup } from "node:dns";
import { fairSemaphore } from "../fair-semaphore.ts";
import { withTimeout } from "../with-timeout.ts";

/** `isOurs` is true if our own resolver failed, which says nothing about the name. */
export type Resolved =
  | { readonly ok: true; readonly addresses: readonly string[] }
  | { readonly ok: false; readonly detail: string; readonly isOurs: boolean };

export type ResolveOptions = {
  readonly account: string;
  readonly limitMs: number;
  readonly signal?: AbortSignal;
};

/** Resolves with all addresses of a name, in the resolver's order; never rejects. */
export type Resolve = (hostname: string, options: ResolveOptions) => Promise<Resolved>;

export type Lookup = (
  hostname: string,
  options: { readonly all: true; readonly verbatim: true },
  callback: (error: NodeJS.ErrnoException | null, addresses: readonly { readonly address: string }[]) => void,
) => void;

const POOL_SIZE = 4;
/** getaddrinfo's code for a name without an address; any other code is a failure of the resolver. */
const ABSENT = "ENOTFOUND";

export const failed = (detail: string, isOurs: boolean): Resolved => ({ ok: false, detail, isOurs });

const lookedUp = (lookup: Lookup, hostname: string): Promise<Resolved> =>
  new Promise((resolve) => {
    try {
      lookup(hostname, { all: true, verbatim: true }, (error, addresses) => {
        if (error !== null) resolve(failed(error.message, error.code !== ABSENT));
        else resolve({ ok: true, addresses: addresses.map(({ address }) => address) });
      });
    } catch (error) {
      resolve(failed(String(error), true));
    }
  });

/**
 * getaddrinfo cannot be cancelled and runs on libuv's few threads, so an account may have a quarter of them. Answers
 * are not cached: a connection is vetted with the addresses that the name has at that time.
 */
export const systemResolver = (lookup: Lookup = systemLookup, poolSize = POOL_SIZE): Resolve => {
  const underWay = new Map<string, Promise<Resolved>>();
  const threads = fairSemaphore(poolSize, Math.max(1, Math.floor(poolSize / 4)));

  const run = async (hostname: string, { account, limitMs }: ResolveOptions): Promise<Resolved> => {
    if (!(await threads.enter(account, limitMs)))
      return failed("too many names are being resolved for this account", true);
    return lookedUp(lookup, hostname).finally(() => threads.leave(account));
  };

  const shared = (hostname: string, options: ResolveOptions): Promise<Resolved> => {
    const key = `${options.account} ${hostname}`;
    const before = underWay.get(key);
    if (before !== undefined) return before;
    const answer = run(hostname, options).finally(() => underWay.delete(key));
    underWay.set(key, answer);
    return answer;
  };

  return (hostname, options) => {
    const late = `not resolved within ${options.limitMs} ms`;
    return withTimeout(options.limitMs, late, shared(hostname, options)).catch(() => failed(late, true));
  };
};
