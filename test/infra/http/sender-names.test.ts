import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { SendOutcome } from "../../../domain/ports/sender.ts";
import { dnsResolver } from "../../../infra/dns/resolver.ts";
import { addressRules } from "../../../infra/http/addresses.ts";
import { type Lookup, type Resolve, systemResolver } from "../../../infra/http/resolve.ts";
import { httpSender } from "../../../infra/http/sender.ts";
import { type DnsAnswer, dnsServer } from "../../support/dns-server.ts";
import { receiver } from "../../support/receiver.ts";
import { anyRequest, NOW } from "../../support/test-sender.ts";
import { until } from "../../support/until.ts";

const test = suite("the sender and the names of its receivers");
/** Longer than any of these tests takes; what still waits at the end keeps the process for as long. */
const LONG_MS = 10_000;
const HANGING = 40;

const senderWith = (resolve: Resolve) =>
  httpSender({ addresses: addressRules(["127.0.0.0/8"], resolve), resolve, clock: { now: () => NOW } });

/** A sender that asks a DNS server of its own on loopback. */
const setUp = async (names: Readonly<Record<string, DnsAnswer>>) => {
  const server = await dnsServer(names);
  const none = async () => "";
  const sender = senderWith(dnsResolver({ files: { hosts: none, resolvConf: none }, servers: [server.address] }));
  const app = await receiver();
  const { port } = new URL(app.url);
  const send = (name: string, account: string, timeoutMs = LONG_MS) =>
    sender.send(anyRequest(`http://${name}:${port}/`, { account, timeoutMs }));
  const close = async (): Promise<void> => {
    await sender.close(0);
    await app.close();
    await server.close();
  };
  return { send, close, asked: server.asked };
};

const said = (sent: SendOutcome): readonly unknown[] =>
  sent.outcome === "answered" ? [sent.statusCode] : [sent.kind, sent.resolverFailed === true];

test("40 endpoints of one account whose names hang delay no delivery of another account", async () => {
  const names = Array.from({ length: HANGING }, (_, n) => `hangs-${n}.example`);
  const known = Object.fromEntries(names.map((name) => [name, "hangs" as const]));
  const { send, close, asked } = await setUp({ ...known, "victim.example": ["127.0.0.1"] });
  const attack = names.map((name) => send(name, "attacker"));
  await until("the attacker's names are asked for", () => asked.length >= 16);
  for (let n = 0; n < 10; n += 1) assert.equal(said(await send("victim.example", "victim")), [200]);
  await close();
  for (const sent of await Promise.all(attack)) assert.is(sent.outcome, "failed");
});

test("an absent name is the receiver's failure, and trouble of the resolver or its slowness is ours", async () => {
  const { send, close } = await setUp({ "broken.example": "servfail", "hangs.example": "hangs" });
  assert.equal(said(await send("missing.example", "acc")), ["dns", false]);
  assert.equal(said(await send("broken.example", "acc")), ["dns", true]);
  assert.equal(said(await send("hangs.example", "acc", 50)), ["timeout", true]);
  await close();
});

test("a name that resolves to a refused address is refused with every resolver", async () => {
  const { send, close } = await setUp({ "inside.example": ["10.0.0.1"], "mixed.example": ["127.0.0.1", "10.0.0.1"] });
  for (const name of ["inside.example", "mixed.example"]) {
    assert.equal(said(await send(name, "acc")), ["blocked-address", false]);
  }
  await close();
});

test("with getaddrinfo an account has a quarter of the threads, and other accounts' names are resolved", async () => {
  const hanging: string[] = [];
  const lookup: Lookup = (name, _options, callback) => {
    if (name.startsWith("hangs")) hanging.push(name);
    else callback(null, [{ address: "127.0.0.1" }]);
  };
  const resolve = systemResolver(lookup, 8);
  for (let n = 0; n < HANGING; n += 1) void resolve(`hangs-${n}.example`, { account: "attacker", limitMs: LONG_MS });
  assert.equal(await resolve("victim.example", { account: "victim", limitMs: LONG_MS }), {
    ok: true,
    addresses: ["127.0.0.1"],
  });
  assert.is(hanging.length, 2);
});

test("an absent name and a temporary failure of getaddrinfo have different outcomes", async () => {
  const failing =
    (code: string): Lookup =>
    (_name, _options, callback) =>
      callback(Object.assign(new Error(code), { code }), []);
  const options = { account: "acc", limitMs: LONG_MS };
  const isOurs = async (code: string) => {
    const resolved = await systemResolver(failing(code))("shop.example", options);
    return resolved.ok ? null : resolved.isOurs;
  };
  assert.equal([await isOurs("ENOTFOUND"), await isOurs("EAI_AGAIN")], [false, true]);
});

test.run();
