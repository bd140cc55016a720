import { randomInt } from "node:crypto";
import { isIP, type Socket, connect as tcpConnect } from "node:net";
import { connect as tlsConnect } from "node:tls";
import type { FailureKind } from "../../domain/delivery/attempt-end.ts";
import { errorMessage } from "../error-message.ts";
import type { AddressRules, Target } from "./addresses.ts";
import type { Resolve } from "./resolve.ts";
import type { Stopwatch } from "./stopwatch.ts";

export class ConnectFailure extends Error {
  override readonly name = "ConnectFailure";
  readonly kind: FailureKind;
  readonly isResolvers: boolean;

  constructor(kind: FailureKind, detail: string, isResolvers = false) {
    super(detail);
    this.kind = kind;
    this.isResolvers = isResolvers;
  }
}

export type Connector = (target: Target, account: string, stopwatch: Stopwatch, ended: AbortSignal) => Promise<Socket>;

export type ConnectorOptions = {
  readonly addresses: Pick<AddressRules, "vetHost">;
  readonly resolve: Resolve;
  readonly ca?: string;
};

const DNS_LIMIT_MS = 5_000;
/** A look-up has up to this much less time, at random, so that attempts begun together do not all end at one moment. */
const DNS_SPREAD_MS = 1_000;
/** Milliseconds until the next address is tried: ten round trips to the far side of the world take less. */
const NEXT_ADDRESS_AFTER_MS = 3_000;
/** A name with more addresses is load balanced, so any of its first ones will do. */
const ADDRESSES_TRIED_MAX = 4;
/** The request's own limit, of 60 s at most, began earlier and ends an attempt before this. */
const LAST_ADDRESS_LIMIT_MS = 60_000;

const ready = (socket: Socket, event: "connect" | "secureConnect", limitMs: number, ended: AbortSignal) =>
  new Promise<void>((resolve, reject) => {
    const settle = (error: Error | null): void => {
      clearTimeout(timer);
      ended.removeEventListener("abort", onEnded);
      socket.off(event, onReady).off("error", settle).off("close", onClose);
      if (error === null) {
        resolve();
        return;
      }
      socket.on("error", () => {});
      socket.destroy();
      reject(error);
    };
    const onReady = (): void => settle(null);
    const onClose = (): void => settle(new Error("closed by the other side"));
    const onEnded = (): void => settle(new Error("given up"));
    const timer = setTimeout(() => settle(new Error(`no connection within ${limitMs} ms`)), limitMs);
    socket.once(event, onReady).once("error", settle).once("close", onClose);
    ended.addEventListener("abort", onEnded, { once: true });
    if (ended.aborted) onEnded();
  });

const openTcp = async (addresses: readonly string[], port: number, ended: AbortSignal): Promise<Socket> => {
  const tried = addresses.slice(0, ADDRESSES_TRIED_MAX);
  const errors: string[] = [];
  for (const [index, host] of tried.entries()) {
    const socket = tcpConnect({ host, port, noDelay: true });
    const last = index === tried.length - 1;
    try {
      await ready(socket, "connect", last ? LAST_ADDRESS_LIMIT_MS : NEXT_ADDRESS_AFTER_MS, ended);
      return socket;
    } catch (error) {
      errors.push(`${host}: ${errorMessage(error)}`);
      if (ended.aborted) break;
    }
  }
  throw new ConnectFailure("connect", errors.join("; "));
};

const startTls = async (tcp: Socket, hostname: string, ended: AbortSignal, ca?: string): Promise<Socket> => {
  const socket = tlsConnect({
    socket: tcp,
    // The certificate must name this host; SNI cannot name an address (RFC 6066, section 3).
    host: hostname,
    ...(isIP(hostname) === 0 ? { servername: hostname } : {}),
    minVersion: "TLSv1.2",
    // Otherwise the variable NODE_TLS_REJECT_UNAUTHORIZED could turn the check of certificates off.
    rejectUnauthorized: true,
    ALPNProtocols: ["http/1.1"],
    ca,
  });
  try {
    await ready(socket, "secureConnect", LAST_ADDRESS_LIMIT_MS, ended);
    // On a later TLS error, Node 20 leaves the socket open, and the request would wait until its time is up.
    socket.on("error", () => socket.destroy());
    return socket;
  } catch (error) {
    throw new ConnectFailure("tls", `${hostname}: ${errorMessage(error)}`);
  }
};

/** Connects to an address that was vetted and not to the name, so no second look-up can give another address. */
export const connector = ({ addresses, resolve, ca }: ConnectorOptions): Connector => {
  const vettedAddresses = async (
    hostname: string,
    account: string,
    signal: AbortSignal,
  ): Promise<readonly string[]> => {
    const options = { account, limitMs: DNS_LIMIT_MS - randomInt(DNS_SPREAD_MS), signal };
    const resolved = isIP(hostname) === 0 ? await resolve(hostname, options) : undefined;
    if (resolved?.ok === false) throw new ConnectFailure("dns", `${hostname}: ${resolved.detail}`, resolved.isOurs);
    const found = resolved?.addresses ?? [hostname];
    if (found.length === 0) throw new ConnectFailure("dns", `${hostname}: no address`);
    const vetted = addresses.vetHost(hostname, found);
    if (vetted.ok) return found;
    throw new ConnectFailure("blocked-address", `${hostname} is ${vetted.address}, which is refused: ${vetted.rule}`);
  };

  return async (target, account, stopwatch, ended) => {
    stopwatch.enter("dns");
    const vetted = await vettedAddresses(target.hostname, account, ended);
    stopwatch.enter("connect");
    const tcp = await openTcp(vetted, target.port, ended);
    if (target.secure) stopwatch.enter("tls");
    const socket = target.secure ? await startTls(tcp, target.hostname, ended, ca) : tcp;
    stopwatch.enter("answer");
    return socket;
  };
};
