import { suite } from "uvu";
import * as assert from "uvu/assert";
import { candidates, parseResolvConf } from "../../../infra/dns/resolv-conf.ts";

const test = suite("resolv.conf");

test("an empty file has the defaults", () => {
  const { servers, search, ndots, attempts } = parseResolvConf("");
  assert.equal({ servers, search, ndots, attempts }, { servers: [], search: [], ndots: 1, attempts: 2 });
});

test("servers, domains and options are read, and comments are not", () => {
  const text = [
    "# made by hand",
    "nameserver 10.0.0.2",
    "nameserver fd00::2 ; the other",
    "nameserver nonsense",
    "domain old.example",
    "search A.example. b.example",
    "options timeout:1 ndots:5 rotate attempts:9",
  ].join("\n");
  assert.equal(parseResolvConf(text), {
    servers: ["10.0.0.2", "fd00::2"],
    search: ["a.example", "b.example"],
    ndots: 5,
    timeoutMs: 1_000,
    attempts: 5,
  });
});

test("the number of dots decides whether the search domains come first", () => {
  const conf = { search: ["a.example"], ndots: 2 };
  assert.equal(candidates("host", conf), ["host.a.example", "host"]);
  assert.equal(candidates("host.b.example", conf), ["host.b.example", "host.b.example.a.example"]);
});

test.run();
