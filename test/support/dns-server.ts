import { createSocket, type RemoteInfo } from "node:dgram";
import type { AddressInfo } from "node:net";

const HEADER_BYTES = 12;
const TYPE_A = 1;
const TYPE_AAAA = 28;
const CLASS_IN = 1;
const OK = 0;
const SERVFAIL = 2;
const NXDOMAIN = 3;

/** What the server says of a name: addresses (none: the name is there without any), nothing at all, or a failure. */
export type DnsAnswer = readonly string[] | "hangs" | "servfail" | "nxdomain";

export type DnsServer = {
  /** With its port, as `Resolver.setServers` takes it. */
  readonly address: string;
  /** Names of the A queries that have come, one after another. */
  readonly asked: string[];
  /** What it says of each name; a test may change it. */
  readonly names: Map<string, DnsAnswer>;
  close(): Promise<void>;
};

/** The first question of a message (RFC 1035, section 4.1.2): its name and type, and where it ends. */
const questionOf = (message: Buffer): { readonly name: string; readonly type: number; readonly end: number } => {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = message[at] ?? 0; length > 0; length = message[at] ?? 0) {
    labels.push(message.toString("ascii", at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join(".").toLowerCase(), type: message.readUInt16BE(at + 1), end: at + 5 };
};

const record = (address: string): Buffer => {
  const bytes = Buffer.from(address.split(".").map(Number));
  // The name is that of the question (a pointer to it), for 0 seconds.
  const head = Buffer.from([0xc0, HEADER_BYTES, 0, TYPE_A, 0, CLASS_IN, 0, 0, 0, 0, 0, bytes.length]);
  return Buffer.concat([head, bytes]);
};

const reply = (query: Buffer, end: number, code: number, addresses: readonly string[]): Buffer => {
  const message = Buffer.from(query.subarray(0, end));
  // An answer to a recursive query, by a server that recurses.
  message.writeUInt16BE(0x8180 | code, 2);
  message.writeUInt16BE(addresses.length, 6);
  message.writeUInt16BE(0, 8);
  message.writeUInt16BE(0, 10);
  return Buffer.concat([message, ...addresses.map(record)]);
};

/** A server of the DNS on loopback, over UDP, that knows IPv4 addresses alone. A name that it does not know is not there. */
export const dnsServer = async (known: Readonly<Record<string, DnsAnswer>>): Promise<DnsServer> => {
  const names = new Map(Object.entries(known));
  const asked: string[] = [];
  const socket = createSocket("udp4");
  socket.on("message", (query: Buffer, { address, port }: RemoteInfo) => {
    const { name, type, end } = questionOf(query);
    if (type === TYPE_A) asked.push(name);
    const answer = names.get(name) ?? "nxdomain";
    if (answer === "hangs") return;
    const code = answer === "servfail" ? SERVFAIL : answer === "nxdomain" ? NXDOMAIN : OK;
    const addresses = typeof answer === "string" || type === TYPE_AAAA ? [] : answer;
    socket.send(reply(query, end, code, addresses), port, address);
  });
  await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
  const { port }: AddressInfo = socket.address();
  return {
    address: `127.0.0.1:${port}`,
    asked,
    names,
    close: () => new Promise((resolve) => socket.close(() => resolve())),
  };
};
