import type { Clock } from "../../domain/ports/clock.ts";
import type { HttpRequest, HttpSender, SendOutcome } from "../../domain/ports/sender.ts";
import { addressRules } from "../../infra/http/addresses.ts";
import { type Lookup, systemResolver } from "../../infra/http/resolve.ts";
import { httpSender } from "../../infra/http/sender.ts";
import { ca } from "./certificates.ts";
import { type Behaviour, type MisbehavingServer, misbehavingServer } from "./misbehaving-server.ts";

export const NOW = Date.parse("2026-03-01T12:00:00.000Z");

export const anyRequest = (url: string, more: Partial<HttpRequest> = {}): HttpRequest => ({
  url,
  headers: { "content-type": "application/json", "webhook-id": "evt_1" },
  body: Buffer.from('{"a":1}'),
  timeoutMs: 5_000,
  ...more,
});

/** A sender that reaches this machine, trusts the tests' authority and asks `lookup`. */
export const testSender = (
  lookup?: Lookup,
  allow: readonly string[] = ["127.0.0.0/8"],
  clock: Clock = { now: () => NOW },
): HttpSender => {
  const resolve = systemResolver(lookup);
  return httpSender({ addresses: addressRules(allow, resolve), resolve, ca, clock });
};

/** What comes of one request to a receiver that behaves so; both are closed afterwards. */
export const sendTo = async (
  behaviour: Behaviour,
  more: Partial<HttpRequest> = {},
): Promise<{ readonly sent: SendOutcome; readonly server: MisbehavingServer }> => {
  const server = await misbehavingServer(behaviour);
  const sender = testSender();
  const sent = await sender.send(anyRequest(server.url, more));
  await sender.close(0);
  await server.close();
  return { sent, server };
};
