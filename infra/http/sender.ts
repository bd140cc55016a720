import type { Failure } from "../../domain/delivery/attempt-end.ts";
import type { Clock } from "../../domain/ports/clock.ts";
import type { HttpSender } from "../../domain/ports/sender.ts";
import { targetOf } from "./addresses.ts";
import { connections } from "./connections.ts";
import { type ConnectorOptions, connector } from "./connector.ts";
import { Exchange } from "./exchange.ts";
import { failure } from "./failures.ts";
import { stopwatch as newStopwatch } from "./stopwatch.ts";

export type HttpSenderOptions = ConnectorOptions & { readonly clock: Clock };

const CLOSE_POLL_MS = 10;

/** Redirects are not followed and no answer is inflated. One limit of time covers all from look-up to last byte. */
export const httpSender = ({ clock, ...options }: HttpSenderOptions): HttpSender => {
  const pool = connections(connector(options));
  const underWay = new Set<Exchange>();
  let closed = false;

  return {
    send: (request) =>
      new Promise((resolve) => {
        const stopwatch = newStopwatch();
        const fail = (it: Failure): void => resolve({ outcome: "failed", ...it, timings: stopwatch.timings() });
        if (closed) return fail(failure("connect", "nothing more is sent: the process is stopping"));
        const parsed = targetOf(request.url);
        if (!parsed.ok) return fail(failure("blocked-address", `${parsed.host} is refused: ${parsed.rule}`));
        const { target } = parsed;
        const exchange = new Exchange({
          ...{ request, target, pool, stopwatch, clock },
          onEnd(sent) {
            underWay.delete(exchange);
            resolve(sent);
          },
        });
        underWay.add(exchange);
        exchange.start();
      }),
    async close(limitMs) {
      closed = true;
      pool.close();
      const until = performance.now() + limitMs;
      while (underWay.size > 0 && performance.now() < until) {
        await new Promise((resolve) => setTimeout(resolve, CLOSE_POLL_MS));
      }
      for (const exchange of [...underWay]) exchange.giveUp();
    },
  };
};
