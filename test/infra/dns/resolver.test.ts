import { suite } from "uvu";
import * as assert from "uvu/assert";
import { dnsResolver } from "../../../infra/dns/resolver.ts";
import type { Resolve } from "../../../infra/http/resolve.ts";
import { type DnsAnswer, dnsServer } from "../../support/dns-server.ts";
import { until } from "../../support/until.ts";

const test = suite("the resolver of endpoints' names");
const LONG_MS = 60_000;
const SHORT_MS = 20;

type Files = { readonly hosts?: string; readonly resolvConf?: string };

/** A resolver that asks a server of its own on loopback. */
const resolving = async (
  names: Readonly<Record<string, DnsAnswer>>,
  { hosts = "", resolvConf = "" }: Files = {},
  lookupsMax = 32,
) => {
  const server = await dnsServer(names);
  const files = { hosts: async () => hosts, resolvConf: async () => resolvConf };
  const resolve: Resolve = dnsResolver({ files, servers: [server.address], lookupsMax });
  const of = (name: string, account = "acc", limitMs = LONG_MS) => resolve(name, { account, limitMs });
  return { resolve, of, ...server };
};

test("a look-up resolves with all addresses of a name", async () => {
  const { of, close } = await resolving({ "shop.example": ["192.0.2.1", "192.0.2.2"] });
  assert.equal(await of("shop.example"), { ok: true, addresses: ["192.0.2.1", "192.0.2.2"] });
  await close();
});

test("no server is asked for names in /etc/hosts, in any case, or for localhost", async () => {
  const hosts =
    "127.0.0.1 localhost\n# 10.9.9.9 shop.example\n10.0.0.5\tShop.Example alias # ours\nnonsense here\n10.0.0.6 alias\n";
  const { of, asked, close } = await resolving({}, { hosts });
  assert.equal(await of("shop.example"), { ok: true, addresses: ["10.0.0.5"] });
  assert.equal(await of("ALIAS"), { ok: true, addresses: ["10.0.0.5", "10.0.0.6"] });
  assert.equal(await of("localhost"), { ok: true, addresses: ["127.0.0.1"] });
  assert.equal(await of("a.localhost"), { ok: true, addresses: ["127.0.0.1", "::1"] });
  assert.equal(asked, []);
  await close();
});

test("search domains come before a name with fewer dots than ndots, and after any other", async () => {
  const resolvConf = "search first.example second.example\noptions ndots:2\n";
  const names = { "api.second.example": ["192.0.2.1"], "a.b.c": ["192.0.2.2"], "x.y.z.first.example": ["192.0.2.3"] };
  const { of, asked, close } = await resolving(names, { resolvConf });
  assert.equal(await of("api"), { ok: true, addresses: ["192.0.2.1"] });
  assert.equal(asked.splice(0), ["api.first.example", "api.second.example"]);
  assert.equal(await of("a.b.c"), { ok: true, addresses: ["192.0.2.2"] });
  assert.equal(asked.splice(0), ["a.b.c"]);
  assert.equal(await of("x.y.z"), { ok: true, addresses: ["192.0.2.3"] });
  await close();
});

test("an absent name is the endpoint's failure, and a server that fails or is silent is ours", async () => {
  const names = { "broken.example": "servfail", "hangs.example": "hangs", "empty.example": [] } as const;
  const { of, close } = await resolving(names);
  const isOurs = async (name: string, limitMs?: number) => {
    const resolved = await of(name, "acc", limitMs);
    return resolved.ok ? null : resolved.isOurs;
  };
  assert.is(await isOurs("missing.example"), false);
  assert.is(await isOurs("empty.example"), false);
  assert.is(await isOurs(`${"a".repeat(64)}.example`), false);
  assert.is(await isOurs("broken.example"), true);
  assert.is(await isOurs("hangs.example", SHORT_MS), true);
  await close();
  assert.is(await isOurs("shop.example", SHORT_MS), true);
});

test("names of one account that hang take its share of look-ups and delay no other account", async () => {
  const hanging = Array.from({ length: 40 }, (_, n) => `hangs-${n}.example`);
  const names = Object.fromEntries(hanging.map((name) => [name, "hangs" as const]));
  const { of, asked, close } = await resolving({ ...names, "victim.example": ["192.0.2.1"] }, {}, 8);
  let ended = 0;
  for (const name of hanging) void of(name, "attacker").then(() => (ended += 1));
  await until("the attacker has its share", () => new Set(asked).size === 4);
  for (let n = 0; n < 20; n += 1) {
    assert.equal(await of("victim.example", `victim ${n}`), { ok: true, addresses: ["192.0.2.1"] });
  }
  const attacked = new Set(asked.filter((name) => name.startsWith("hangs")));
  assert.ok(attacked.size <= 4 + ended, `${attacked.size} names were asked for, ${ended} look-ups had ended`);
  await close();
});

test("a look-up without callers is cancelled, and its place is free", async () => {
  const { resolve, of, asked, close } = await resolving(
    { "hangs.example": "hangs", "other.example": ["192.0.2.1"] },
    {},
    2,
  );
  const given = new AbortController();
  const hanging = resolve("hangs.example", { account: "acc", limitMs: LONG_MS, signal: given.signal });
  await until("it is asked", () => asked.length > 0);
  const other = of("other.example");
  given.abort();
  assert.is((await hanging).ok, false);
  assert.equal(await other, { ok: true, addresses: ["192.0.2.1"] });
  await close();
});

test("callers of one account share the look-up of a name, and each is answered within its own limit", async () => {
  const { of, asked, names, close } = await resolving({ "shop.example": ["192.0.2.1"], "hangs.example": "hangs" });
  const all = await Promise.all(Array.from({ length: 20 }, () => of("shop.example")));
  assert.ok(all.every(({ ok }) => ok));
  assert.is(asked.length, 1);
  const [short] = await Promise.all([of("hangs.example", "acc", SHORT_MS), of("hangs.example", "acc", 2 * SHORT_MS)]);
  assert.is(short?.ok, false);
  // Nothing is remembered.
  names.set("hangs.example", ["192.0.2.9"]);
  assert.equal(await of("hangs.example"), { ok: true, addresses: ["192.0.2.9"] });
  await close();
});

test.run();
