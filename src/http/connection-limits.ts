import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { networkOf } from "../../infra/http/network.ts";
import { Shares } from "../../infra/shares.ts";
import { CONNECTIONS_MAX, PIPELINED_MAX } from "./limits.ts";

/** Limits the open connections by shares for each network, so that one network cannot take all of them. */
export const shareConnections = (server: Server, max = CONNECTIONS_MAX): void => {
  const shares = new Shares(max);
  server.maxConnections = max;
  server.on("connection", (socket: Socket) => {
    const party = [networkOf(socket.remoteAddress ?? "")];
    if (!shares.take(party, 1)) {
      socket.destroy();
      return;
    }
    socket.once("close", () => shares.give(party, 1));
  });
};

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** Puts a function around the listeners that a server has for requests. */
export const wrapRequests = (server: Server, wrap: (next: Handler) => Handler): void => {
  // Node calls the listeners of "request" with a request and its response, which its types do not say.
  const listeners = server.listeners("request") as Handler[];
  server.removeAllListeners("request");
  const next: Handler = (request, response) => {
    for (const listener of listeners) listener.call(server, request, response);
  };
  server.on("request", wrap(next));
};

/**
 * Closes a connection that sends more than `max` requests ahead of their answers: Node would hand over all that it has
 * read, often thousands, before anything else is served. It must be called after the server was given its handler.
 */
export const limitPipelines = (server: Server, max = PIPELINED_MAX): void => {
  const unanswered = new WeakMap<Socket, number>();
  wrapRequests(server, (next) => (request, response) => {
    const { socket } = request;
    if (socket.destroyed) return;
    const open = (unanswered.get(socket) ?? 0) + 1;
    if (open > max) {
      socket.destroy();
      return;
    }
    unanswered.set(socket, open);
    response.on("close", () => unanswered.set(socket, (unanswered.get(socket) ?? 1) - 1));
    next(request, response);
  });
};
