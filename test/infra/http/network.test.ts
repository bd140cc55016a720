import { suite } from "uvu";
import * as assert from "uvu/assert";
import { networkOf } from "../../../infra/http/network.ts";

const test = suite("the network of an address");

test("an IPv4 address belongs to its /24, however it is written", () => {
  assert.is(networkOf("203.0.113.77"), "203.0.113.0/24");
  assert.is(networkOf("::ffff:203.0.113.77"), "203.0.113.0/24");
});

test("an IPv6 address belongs to its /48", () => {
  assert.is(networkOf("2001:db8:1:2::3"), "2001:db8:1::/48");
  assert.is(networkOf("fe80::1%eth0"), "fe80::/48");
});

test("a text that is no address stands for itself", () => {
  assert.is(networkOf("unknown"), "unknown");
});

test.run();
