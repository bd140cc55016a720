import { suite } from "uvu";
import * as assert from "uvu/assert";
import { type AddressRules, addressRules, isCidr, targetOf, URL_LENGTH_MAX } from "../../../infra/http/addresses.ts";
import type { Resolve } from "../../../infra/http/resolve.ts";

const test = suite("address rules");

const resolving =
  (...addresses: readonly string[]): Resolve =>
  async () => ({ ok: true, addresses });
const unresolved: Resolve = async () => ({ ok: false, detail: "ENOTFOUND", isOurs: false });

const closed = addressRules([], resolving("93.184.216.34"));

const ruleOf = async (rules: AddressRules, url: string): Promise<string> => {
  const vetted = await rules.vetUrl(url, "acc");
  return vetted.ok ? "ok" : vetted.rule;
};

/** Ways to write an address that is not public, and the rule that names why. */
const REFUSED: readonly (readonly [string, string])[] = [
  ["127.0.0.1", "loopback"],
  ["127.255.255.254", "loopback"],
  ["2130706433", "loopback"],
  ["017700000001", "loopback"],
  ["0x7f000001", "loopback"],
  ["0177.0.0.1", "loopback"],
  ["0x7f.0.0.1", "loopback"],
  ["0x7F.1", "loopback"],
  ["127.1", "loopback"],
  ["127.0.1", "loopback"],
  ["127.0.0.1.", "loopback"],
  ["%31%32%37.0.0.1", "loopback"],
  ["\u2460\u2461\u2466.0.0.1", "loopback"],
  ["127\u30020\u30020\u30021", "loopback"],
  ["[::1]", "loopback"],
  ["[0:0:0:0:0:0:0:1]", "loopback"],
  ["[::ffff:127.0.0.1]", "loopback"],
  ["[::ffff:7f00:1]", "loopback"],
  ["[64:ff9b::127.0.0.1]", "loopback"],
  ["0.0.0.0", "unspecified"],
  ["0", "unspecified"],
  ["[::]", "unspecified"],
  ["[::ffff:0.0.0.0]", "unspecified"],
  ["0.1.2.3", "this-network"],
  ["10.0.0.1", "private"],
  ["012.1", "private"],
  ["172.16.0.1", "private"],
  ["172.31.255.255", "private"],
  ["192.168.1.1", "private"],
  ["3232235777", "private"],
  ["[::ffff:c0a8:101]", "private"],
  ["[64:ff9b::a00:1]", "private"],
  ["169.254.0.1", "link-local"],
  ["[fe80::1]", "link-local"],
  ["[febf::1]", "link-local"],
  ["169.254.169.254", "cloud-metadata"],
  ["0xa9fea9fe", "cloud-metadata"],
  ["[::ffff:a9fe:a9fe]", "cloud-metadata"],
  ["[fd00:ec2::254]", "cloud-metadata"],
  ["168.63.129.16", "cloud-metadata"],
  ["100.100.100.200", "cloud-metadata"],
  ["100.64.0.1", "shared-address-space"],
  ["100.127.255.255", "shared-address-space"],
  ["192.0.0.8", "protocol-assignments"],
  ["192.0.2.1", "documentation"],
  ["198.51.100.7", "documentation"],
  ["203.0.113.7", "documentation"],
  ["[2001:db8::1]", "documentation"],
  ["[3fff::1]", "documentation"],
  ["198.18.0.1", "benchmarking"],
  ["198.19.255.255", "benchmarking"],
  ["192.88.99.1", "6to4-relay"],
  ["224.0.0.1", "multicast"],
  ["239.255.255.255", "multicast"],
  ["[ff02::1]", "multicast"],
  ["240.0.0.1", "reserved"],
  ["255.255.255.255", "broadcast"],
  ["4294967295", "broadcast"],
  ["[fc00::1]", "unique-local"],
  ["[fdff::1]", "unique-local"],
  ["[fec0::1]", "site-local"],
  ["[2002:7f00:1::]", "6to4"],
  ["[2002:a00:1::1]", "6to4"],
  ["[2001::1]", "teredo"],
  ["[2001:0:4136:e378:8000:63bf:3fff:fdd2]", "teredo"],
  ["[2001:10::1]", "protocol-assignments"],
  ["[::7f00:1]", "ipv4-compatible"],
  ["[::ffff:0:7f00:1]", "ipv4-translated"],
  ["[64:ff9b:1::1]", "local-nat64"],
  ["[100::1]", "discard-only"],
  ["[5f00::1]", "segment-routing"],
  ["[4000::1]", "not-global-unicast"],
];

for (const [host, rule] of REFUSED) {
  test(`${host} is refused: ${rule}`, async () => {
    for (const url of [`http://${host}/`, `https://${host}:8443/a?b`, `http:${host}`, `http:\\\\${host}\\x`])
      assert.is(await ruleOf(closed, url), rule, url);
  });
}

for (const url of [
  "https://93.184.216.34/",
  "http://1.1.1.1:8080/hook",
  "http://172.32.0.1/",
  "http://100.128.0.1/",
  "https://[2606:4700:4700::1111]/",
  "https://[64:ff9b::8.8.8.8]/",
  "https://[::ffff:8.8.8.8]/",
  "https://example.com/hook?a=1#part",
  "HTTPS://EXAMPLE.com",
]) {
  test(`${url} is allowed and kept as it was written`, async () => {
    assert.equal(await closed.vetUrl(url, "acc"), { ok: true, url });
  });
}

for (const [url, rule] of [
  ["ftp://example.com/", "scheme"],
  ["file:///etc/passwd", "scheme"],
  ["javascript:alert(1)", "scheme"],
  ["ws://example.com/", "scheme"],
  ["http://user@example.com/", "userinfo"],
  ["http://user:pass@example.com/", "userinfo"],
  ["http://example.com@127.0.0.1/", "userinfo"],
  ["http://:p@example.com/", "userinfo"],
  ["example.com/hook", "not-a-url"],
  ["/hook", "not-a-url"],
  ["", "not-a-url"],
  ["http://", "not-a-url"],
  ["http://example.com:99999/", "not-a-url"],
  ["http://exa mple.com/", "not-a-url"],
  ["http://exam\nple.com/", "not-a-url"],
  [" http://example.com/", "not-a-url"],
  ["http://[fe80::1%25eth0]/", "not-a-url"],
  ["http://256.1.1.1/", "not-a-url"],
  [`https://example.com/${"x".repeat(URL_LENGTH_MAX)}`, "too-long"],
] as const) {
  test(`${JSON.stringify(url.slice(0, 40))} is refused: ${rule}`, async () => {
    assert.is(await ruleOf(closed, url), rule);
  });
}

test("names that mean something inside a network only are refused, whatever they resolve to", async () => {
  for (const resolve of [unresolved, resolving("93.184.216.34")]) {
    const rules = addressRules([], resolve);
    for (const name of [
      "localhost",
      "LOCALHOST",
      "localhost.",
      "a.localhost",
      "x.local",
      "metadata.google.internal",
      "r.home.arpa",
    ])
      assert.is(await ruleOf(rules, `http://${name}/`), "local-name", name);
  }
  assert.is(await ruleOf(addressRules([], resolving("93.184.216.34")), "http://notlocalhost.example/"), "ok");
});

test("a name is judged by every address it has", async () => {
  assert.equal(await addressRules([], resolving("93.184.216.34", "10.0.0.7")).vetUrl("https://mixed.example/", "acc"), {
    ok: false,
    host: "mixed.example",
    address: "10.0.0.7",
    rule: "private",
  });
});

test("a name that does not resolve yet can be registered", async () => {
  assert.is(await ruleOf(addressRules([], unresolved), "https://soon.example/"), "ok");
});

test("an answer with a zone, or that is no address at all, is refused", () => {
  for (const address of ["fe80::1%eth0", "2606:4700::1111%1", "0x7f.1", "127.1", "", "example.com"])
    assert.not.ok(closed.vetHost("a.example", [address]).ok, address);
});

test("an opened range is allowed, also in its IPv4-mapped form, and nothing else is", async () => {
  const rules = addressRules(["127.0.0.0/8", "fd12::/16"], resolving("127.0.0.1", "::1"));
  for (const host of ["127.0.0.1", "2130706433", "[::ffff:127.0.0.1]", "[fd12::1]", "[::1]", "localhost"])
    assert.is(await ruleOf(rules, `http://${host}:9000/`), "ok", host);
  assert.is(await ruleOf(rules, "http://10.0.0.1/"), "private");
  assert.is(await ruleOf(rules, "http://[fd13::1]/"), "unique-local");
  assert.is(await ruleOf(addressRules(["10.0.0.0/8"], resolving("127.0.0.1")), "http://localhost/"), "loopback");
});

test("a range given in its mapped form opens the IPv4 range", async () => {
  assert.is(await ruleOf(addressRules(["::ffff:10.0.0.0/104"], unresolved), "http://10.1.2.3/"), "ok");
});

test("ranges are checked when they are read", () => {
  for (const text of ["127.0.0.0/8", "::1/128", "0.0.0.0/0", "::/0", "10.1.2.3/32"]) assert.ok(isCidr(text), text);
  for (const text of [
    "",
    "127.0.0.1",
    "127.0.0.0/33",
    "::/129",
    "127/8",
    "0x7f.0.0.0/8",
    "a/8",
    "10.0.0.0/-1",
    "fe80::%1/64",
  ]) {
    assert.not.ok(isCidr(text), text);
    assert.throws(() => addressRules([text], unresolved), /not an address range/);
  }
});

test("a URL becomes a target: host, port, origin and path with query", () => {
  const parsed = targetOf("https://Example.com.:8443/a/../b?c=d#e");
  assert.equal(parsed.ok && parsed.target, {
    secure: true,
    hostname: "example.com",
    port: 8443,
    origin: "https://example.com.:8443",
    path: "/b?c=d",
  });
});

test.run();
