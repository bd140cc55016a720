import { suite } from "uvu";
import * as assert from "uvu/assert";
import {
  apiRate,
  attempts,
  network,
  type Requester,
  rateLimitHeaders,
  takeRequest,
  windowCounter,
} from "../../../src/http/rate-limit.ts";
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

test("a clock that is set back locks no key out", () => {
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

const LIMITS = { credential: 100, account: 150 };
const requester = (kind: Requester["kind"], credential: string): Requester => ({ kind, credential, account: "acc_1" });

/** How many of so many requests pass. */
const passed = (rate: ReturnType<typeof apiRate>, by: Requester, requests: number): number =>
  Array.from({ length: requests }, () => takeRequest(rate, by, LIMITS)).filter(({ ok }) => ok).length;

test("the keys of an account have a limit together, and so have its agents", () => {
  for (const kind of ["key", "agent"] as const) {
    const rate = apiRate(testClock());
    assert.is(passed(rate, requester(kind, "1"), 120), 100);
    assert.is(passed(rate, requester(kind, "2"), 120), 50);
    const { policy, limit, ok } = takeRequest(rate, requester(kind, "3"), LIMITS);
    assert.equal([policy, limit, ok], ["account", 150, false]);
    assert.is(passed(rate, { ...requester(kind, "1"), account: "acc_2", credential: "4" }, 10), 10);
  }
});

test("agents and keys that loop take nothing from the sessions, nor sessions from each other's share", () => {
  const rate = apiRate(testClock());
  for (const n of ["1", "2", "3"]) {
    passed(rate, requester("agent", n), 200);
    passed(rate, requester("key", n), 200);
  }
  assert.is(passed(rate, requester("session", "loops"), 200), 100);
  assert.is(passed(rate, requester("session", "loops too"), 200), 60);
  assert.is(passed(rate, requester("session", "approver"), 200), 60);
});

test("a request that its account's limit refuses is not counted for its credential", () => {
  const clock = testClock();
  const rate = apiRate(clock);
  passed(rate, requester("key", "1"), 90);
  clock.advance(30_000);
  passed(rate, requester("key", "2"), 70);
  clock.advance(30_000);
  // The account's window is over, and the credential's still counts the 60 that passed.
  assert.is(passed(rate, requester("key", "2"), 100), 40);
});

test("the headers are structured fields", () => {
  const window = { ok: true, remaining: 599, resetS: 60 };
  assert.equal(rateLimitHeaders({ ...window, policy: "api", limit: 600 }), {
    "ratelimit-policy": '"api";q=600;w=60',
    ratelimit: '"api";r=599;t=60',
  });
  const { ratelimit } = rateLimitHeaders({ ...window, policy: "account", limit: 1_800 });
  assert.is(ratelimit, '"account";r=599;t=60');
});

test.run();
