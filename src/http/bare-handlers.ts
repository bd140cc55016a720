import type { IncomingMessage, ServerResponse } from "node:http";
import type { FastifyInstance } from "fastify";
import type { BareParts } from "./bare-exchange.ts";
import { wrapRequests } from "./connection-limits.ts";

/** Answers a request, or returns false before it has changed or read anything of it: Fastify then answers it. */
export type BareHandler = (request: IncomingMessage, response: ServerResponse) => boolean;

declare module "fastify" {
  interface FastifyInstance {
    readonly bare: { readonly parts: BareParts; add(handler: BareHandler): void };
  }
}

/**
 * Offers each request to the bare handlers before Fastify gets it. A closing server offers none, because Fastify then
 * adds `Connection: close`.
 */
export const bareHandlersFirst = (app: FastifyInstance, parts: BareParts): void => {
  const handlers: BareHandler[] = [];
  let isClosing = false;
  app.addHook("preClose", (done) => {
    isClosing = true;
    done();
  });
  app.decorate("bare", { parts, add: (handler: BareHandler) => handlers.push(handler) });
  wrapRequests(app.server, (next) => (request, response) => {
    for (const handler of isClosing ? [] : handlers) if (handler(request, response)) return;
    next(request, response);
  });
};
