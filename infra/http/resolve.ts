import { lookup as systemLookup } from "node:dns";
import { windowOf } from "../window.ts";

/** `isOurs`: our own resolver could not tell, which says nothing about the name. Else the name has no address. */
export type Resolved =
  | { readonly ok: true; readonly addresses: readonly string[] }
  | { readonly ok: false; readonly detail: string; readonly isOurs: boolean };

export type ResolveOptions = {
  /** Whose share of the look-ups it takes. */
  readonly account: string;
  readonly limitMs: number;
  /** Aborted when nobody needs the answer any more. */
  readonly signal?: AbortSignal;
};

/** All addresses of a name, in the resolver's order; never rejects. */
export type Resolve = (hostname: string, options: ResolveOptions) => Promise<Resolved>;

/** As `dns.lookup` with `all`: injectable, so that a test can be a resolver that lies. */
export type Lookup = (
  hostname: string,
  options: { readonly all: true; readonly verbatim: true },
  callback: (error: NodeJS.ErrnoException | null, addresses: readonly { readonly address: string }[]) => void,
) => void;

/** libuv's own number of threads. */
const POOL_SIZE = 4;
/** What getaddrinfo answers when it is said that the name has no address; anything else is trouble. */
const ABSENT = "ENOTFOUND";

const asked = (lookup: Lookup, hostname: string): Promise<Resolved> =>
  new Promise((resolve) => {
    const failed = (detail: string, isOurs: boolean): void => resolve({ ok: false, detail, isOurs });
    try {
      lookup(hostname, { all: true, verbatim: true }, (error, addresses) => {
        if (error !== null) failed(error.message, error.code !== ABSENT);
        else resolve({ ok: true, addresses: addresses.map(({ address }) => address) });
      });
    } catch (error) {
      failed(String(error), true);
    }
  });

/**
 * The system's resolver (getaddrinfo), for names that only it knows: mDNS, NIS, and other sources of nsswitch.conf. It runs on
 * libuv's few threads and cannot be cancelled, so an account may have a quarter of them, and at least one. Callers of one account
 * that want the same name at once share one look-up. Nothing is remembered: each connection is vetted with what the name
 * means at that moment.
 */
export const systemResolver = (lookup: Lookup = systemLookup, poolSize = POOL_SIZE): Resolve => {
  const underWay = new Map<string, Promise<Resolved>>();
  const threads = windowOf(poolSize, Math.max(1, Math.floor(poolSize / 4)));

  const run = async (hostname: string, { account, limitMs }: ResolveOptions): Promise<Resolved> => {
    if (!(await threads.enter(account, limitMs))) {
      return { ok: false, detail: "too many names are being resolved for this account", isOurs: true };
    }
    // Until it has really ended: the thread is not free before.
    return asked(lookup, hostname).finally(() => threads.leave(account));
  };

  const shared = (hostname: string, options: ResolveOptions): Promise<Resolved> => {
    const key = `${options.account} ${hostname}`;
    const before = underWay.get(key);
    if (before !== undefined) return before;
    const answer = run(hostname, options).finally(() => underWay.delete(key));
    underWay.set(key, answer);
    return answer;
  };

  return async (hostname, options) => {
    const { limitMs } = options;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<Resolved>((resolve) => {
      const detail = `not resolved within ${limitMs} ms`;
      timer = setTimeout(() => resolve({ ok: false, detail, isOurs: true }), limitMs);
    });
    const resolved = await Promise.race([shared(hostname, options), late]);
    clearTimeout(timer);
    return resolved;
  };
};
