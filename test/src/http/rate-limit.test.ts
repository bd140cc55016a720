import { suite } from "uvu";
import * as assert from "uvu/assert";
import { attempts, network, rateLimitHeaders, windowCounter } from "../../../src/http/rate-limit.ts";
import { testClock } from "../../support/http-app.ts";

const test = suite("rate limits");

test("a window lets exactly its limit through, and the next one begins anew", () => {
  const clock = testClock();
  const counter = windowCounter(clock, 60_000, 10);
  assert.equal(counter.take("k", 2), { ok: true, remaining: 1, resetS: 60 });
  clock.advance(30_500);
  assert.equal(counter.take("k", 2), { ok: true, remaining: 0, resetS: 30 });
  assert.equal(counter.take("k", 2), { ok: false, remaining: 0, resetS: 30 });
  clock.advance(29_500);
  assert.equal(counter.take("k", 2), { ok: true, remaining: 1, resetS: 60 });
});

test("one key does not use up another's window", () => {
  const counter = windowCounter(testClock(), 60_000, 10);
  assert.ok(counter.take("a", 1).ok);
  assert.ok(counter.take("b", 1).ok);
  assert.is(counter.take("a", 1).ok, false);
});

test("a clock that is set back locks nobody out", () => {
  const clock = testClock();
  const counter = windowCounter(clock, 60_000, 10);
  counter.take("k", 1);
  clock.advance(-3_600_000);
  assert.ok(counter.take("k", 1).ok);
});

test("a flood of keys forgets the oldest window and grows no further", () => {
  const counter = windowCounter(testClock(), 60_000, 3);
  for (const key of ["a", "b", "c", "d"]) counter.take(key, 1);
  assert.is(counter.take("b", 1).ok, false);
  assert.ok(counter.take("a", 1).ok);
});

test("a hundred guesses at once are ten, and a right one is given back", () => {
  const clock = testClock();
  const { take, giveBack } = attempts(clock);
  const results = Array.from({ length: 100 }, () => take("failed-login-address", "ana"));
  assert.is(results.filter(({ ok }) => ok).length, 10);
  assert.equal(results.at(-1), { ok: false, retryAfterS: 900 });
  giveBack("failed-login-address", "ana");
  assert.ok(take("failed-login-address", "ana").ok);
  clock.advance(15 * 60_000);
  assert.ok(take("failed-login-address", "ana").ok);
});

test("giving back what was never taken opens nothing", () => {
  const { take, giveBack } = attempts(testClock());
  for (let i = 0; i < 50; i += 1) giveBack("failed-login-address", "ana");
  const results = Array.from({ length: 50 }, () => take("failed-login-address", "ana"));
  assert.is(results.filter(({ ok }) => ok).length, 10);
});

test("an IPv6 customer has one count for the whole /64", () => {
  assert.is(network("2001:db8:1:2:aaaa::1"), network("2001:db8:1:2:ffff::9"));
  assert.is.not(network("2001:db8:1:2::1"), network("2001:db8:1:3::1"));
  assert.is(network("::ffff:192.0.2.7"), "192.0.2.7");
  assert.is(network("192.0.2.7"), "192.0.2.7");
  assert.is(network("192.0.2.7:4711"), "192.0.2.7:4711", "what some proxies say");
  assert.is(network("x".repeat(16_000)).length, 64, "whoever is believed may say anything: no key is large");
  const { take } = attempts(testClock());
  for (let i = 0; i < 100; i += 1) take("signup-ip", `2001:db8::${i.toString(16)}`);
  assert.is(take("signup-ip", "2001:db8::ffff").ok, false);
});

test("the headers are structured fields", () => {
  assert.equal(rateLimitHeaders(600, { ok: true, remaining: 599, resetS: 60 }), {
    "ratelimit-policy": '"api";q=600;w=60',
    ratelimit: '"api";r=599;t=60',
  });
});

test.run();
