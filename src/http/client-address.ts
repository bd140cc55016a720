import type { IncomingMessage } from "node:http";
import proxyAddress from "@fastify/proxy-addr";

/** The proxies whose `X-Forwarded-For` is trusted. `true` trusts all of them, false none. */
export type TrustedProxies = boolean | string | string[];

export type Trust = (address: string, hop: number) => boolean;

/** True if a proxy is trusted, in the form in which Fastify takes it; false if none is. */
export const trustOf = (proxies: TrustedProxies): Trust | false => {
  if (typeof proxies === "boolean") return proxies ? () => true : false;
  return proxyAddress.compile(typeof proxies === "string" ? proxies.split(",").map((one) => one.trim()) : proxies);
};

/** Returns a function that finds the address of a client, as Fastify's `request.ip` does. */
export const clientAddress = (trust: Trust | false): ((request: IncomingMessage) => string) =>
  trust === false ? ({ socket }) => socket.remoteAddress ?? "" : (request) => proxyAddress(request, trust) ?? "";
