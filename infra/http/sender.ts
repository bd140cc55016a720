import { LRUCache } from "lru-cache";
import type { Clock } from "../../domain/ports/clock.ts";
import type { HttpSender, SendOutcome } from "../../domain/ports/sender.ts";
import { targetOf } from "./addresses.ts";
import { connections } from "./connections.ts";
import { type ConnectorOptions, connector } from "./connector.ts";
import { Deadlines } from "./deadlines.ts";
import { Exchange } from "./exchange.ts";
import { failure } from "./failures.ts";

export type HttpSenderOptions = ConnectorOptions & { readonly clock: Clock };

const CLOSE_POLL_MS = 10;
/** URLs that are remembered as parsed. They are vetted when a connection is opened, so nothing here can be outdated. */
const URLS_MAX = 2_000;

const notSent = (kind: "connect" | "blocked-address", detail: string): SendOutcome => ({
  ...{ outcome: "failed", ...failure(kind, detail) },
  timings: { dns: 0, connect: 0, tls: 0, first_byte: null, total: 0 },
});

/** Redirects are not followed and no answer is inflated. One limit of time covers all from look-up to last byte. */
export const httpSender = ({ clock, ...options }: HttpSenderOptions): HttpSender => {
  const pool = connections(connector(options));
  const underWay = new Deadlines();
  const targets = new LRUCache<string, ReturnType<typeof targetOf>>({ max: URLS_MAX });
  const shared = { pool, clock, underWay };
  let closed = false;

  return {
    send: (request) =>
      new Promise((resolve) => {
        if (closed) return resolve(notSent("connect", "nothing more is sent: the process is stopping"));
        const { url } = request;
        let parsed = targets.get(url);
        if (parsed === undefined) {
          parsed = targetOf(url);
          targets.set(url, parsed);
        }
        if (!parsed.ok) return resolve(notSent("blocked-address", `${parsed.host} is refused: ${parsed.rule}`));
        new Exchange(shared, request, parsed.target, resolve).start();
      }),
    async close(limitMs) {
      closed = true;
      pool.close();
      const until = performance.now() + limitMs;
      while (underWay.size > 0 && performance.now() < until) {
        await new Promise((resolve) => setTimeout(resolve, CLOSE_POLL_MS));
      }
      for (const exchange of underWay.all()) exchange.giveUp();
    },
  };
};
