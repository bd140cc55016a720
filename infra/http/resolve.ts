import { lookup as systemLookup } from "node:dns";

export type Resolved =
  | { readonly ok: true; readonly addresses: readonly string[] }
  | { readonly ok: false; readonly detail: string };

/** All addresses of a name, in the resolver's order; never rejects. */
export type Resolve = (hostname: string, limitMs: number) => Promise<Resolved>;

/** As `dns.lookup` with `all`: injectable, so that a test can be a resolver that lies. */
export type Lookup = (
  hostname: string,
  options: { readonly all: true; readonly verbatim: true },
  callback: (error: Error | null, addresses: readonly { readonly address: string }[]) => void,
) => void;

const asked = (lookup: Lookup, hostname: string): Promise<Resolved> =>
  new Promise((resolve) => {
    const failed = (error: unknown): void => resolve({ ok: false, detail: String(error) });
    try {
      lookup(hostname, { all: true, verbatim: true }, (error, addresses) => {
        if (error !== null) failed(error.message);
        else resolve({ ok: true, addresses: addresses.map(({ address }) => address) });
      });
    } catch (error) {
      failed(error);
    }
  });

/**
 * The system's resolver, so that /etc/hosts and the search domains of a container count. It runs on libuv's few
 * threads: callers that want the same name at once share one look-up, and a name whose server hangs holds one thread.
 * Nothing is remembered: each connection is vetted with what the name means then.
 */
export const resolver = (lookup: Lookup = systemLookup): Resolve => {
  const underWay = new Map<string, Promise<Resolved>>();

  const shared = (hostname: string): Promise<Resolved> => {
    const before = underWay.get(hostname);
    if (before !== undefined) return before;
    const answer = asked(lookup, hostname).finally(() => underWay.delete(hostname));
    underWay.set(hostname, answer);
    return answer;
  };

  return async (hostname, limitMs) => {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<Resolved>((resolve) => {
      timer = setTimeout(() => resolve({ ok: false, detail: `not resolved within ${limitMs} ms` }), limitMs);
    });
    const resolved = await Promise.race([shared(hostname), late]);
    clearTimeout(timer);
    return resolved;
  };
};
