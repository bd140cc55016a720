import { suite } from "uvu";
import * as assert from "uvu/assert";
import { fold } from "../../../domain/decider.ts";
import { type AttemptCounts, CATCH_UP_MS, catchUpRate, type EndedAttempt } from "../../../domain/endpoint/circuit.ts";
import { endpoint, takesDeliveries } from "../../../domain/endpoint/decider.ts";
import type { EndpointEvent } from "../../../domain/endpoint/events.ts";
import { specFor } from "../../support/given.ts";
import { at } from "../../support/history.ts";

const given = specFor(endpoint);
const account = "acc_1";
const endpoint_id = "end_1";
const MINUTE_S = 60;
const DAY_S = 24 * 60 * MINUTE_S;

const registered: EndpointEvent = {
  type: "EndpointRegistered",
  data: {
    name: "shop",
    url: "https://example.com/hook",
    timeout_ms: 15_000,
    retry_schedule_s: [5],
    concurrency: 16,
    rate_per_second: null,
    headers: {},
    notifications: [],
    policy_id: null,
    endpoint_id,
    account,
    secret: "s1",
    at: at(0),
  },
};
const TEN = { consecutive_failures: 10, attempts: 10, failed: 10 };
const degraded: EndpointEvent = {
  type: "EndpointDegraded",
  data: { endpoint_id, consecutive_failures: 3, attempts: 3, failed: 3, at: at(10) },
};
const opened: EndpointEvent = {
  type: "EndpointOpened",
  data: { endpoint_id, ...TEN, reason: "failures-in-a-row", failing_since: at(5), next_probe_at: at(30), at: at(20) },
};
const probed = (probe: number, second: number, next: number): EndpointEvent => ({
  type: "EndpointProbed",
  data: { endpoint_id, event_id: "evt_1", probe, next_probe_at: at(next), at: at(second) },
});
const warned = (second: number): EndpointEvent => ({
  type: "EndpointWarned",
  data: { endpoint_id, failing_since: at(5), disables_at: at(second + DAY_S), at: at(second) },
});
const recovered = (from: "open" | "degraded", since: number, second: number): EndpointEvent => ({
  type: "EndpointRecovered",
  data: { endpoint_id, from, since: at(since), at: at(second) },
});

const counted = (over: Partial<AttemptCounts> = {}): AttemptCounts => ({
  consecutiveFailures: 0,
  failingSince: null,
  lastFailureAt: null,
  attempts: 1,
  failed: 0,
  ...over,
});
const inARow = (failures: number, since: number): AttemptCounts =>
  counted({ consecutiveFailures: failures, failingSince: at(since), attempts: failures, failed: failures });
const report = (second: number, succeeded: boolean, counts: AttemptCounts, seen: Partial<EndedAttempt> = {}) =>
  ({
    type: "ReportAttempt",
    account,
    attempt: { startedAt: at(second), succeeded, notBefore: null, ...seen },
    counts,
    at: at(second),
  }) as const;

const test = suite("circuit");

test("three failures in a row degrade, ten open; the first probe comes after ten seconds", () => {
  given(registered)
    .when(report(10, false, inARow(2, 9)))
    .thenNothing();
  given(registered)
    .when(report(10, false, inARow(3, 9)))
    .then(degraded);
  given(registered, degraded)
    .when(report(11, false, inARow(4, 9)))
    .thenNothing();
  given(registered, degraded)
    .when(report(20, false, inARow(9, 5)))
    .thenNothing();
  given(registered, degraded)
    .when(report(20, false, inARow(10, 5)))
    .then(opened);
  given(registered)
    .when(report(20, false, inARow(10, 5)))
    .then(opened);
});

test("a failure rate of 70 % in at least twenty attempts opens, one of 10 % degrades", () => {
  const of = (failed: number, attempts: number): AttemptCounts =>
    counted({ consecutiveFailures: 1, failingSince: at(20), attempts, failed });
  given(registered)
    .when(report(20, false, of(14, 20)))
    .then({
      type: "EndpointOpened",
      data: {
        endpoint_id,
        consecutive_failures: 1,
        attempts: 20,
        failed: 14,
        reason: "failure-rate",
        failing_since: at(20),
        next_probe_at: at(30),
        at: at(20),
      },
    });
  const mild = (failed: number, attempts: number) =>
    given(registered)
      .when(report(20, false, of(failed, attempts)))
      .then({
        type: "EndpointDegraded",
        data: { endpoint_id, consecutive_failures: 1, attempts, failed, at: at(20) },
      });
  mild(13, 20);
  mild(14, 19);
  mild(1, 10);
  given(registered)
    .when(report(20, false, of(1, 11)))
    .thenNothing();
  given(registered)
    .when(report(20, false, of(2, 9)))
    .thenNothing();
});

test("a success never opens or degrades", () => {
  given(registered)
    .when(report(20, true, counted({ attempts: 20, failed: 19 })))
    .thenNothing();
});

test("a degraded endpoint recovers when nearly all succeed and, with many attempts, the last failure is some time ago", () => {
  const well = recovered("degraded", 10, 40);
  given(registered, degraded)
    .when(report(40, true, counted({ attempts: 4, failed: 3 })))
    .then(well);
  const many = (failed: number, last: number) => counted({ attempts: 100, failed, lastFailureAt: at(last) });
  given(registered, degraded)
    .when(report(40, true, many(4, 30)))
    .then(well);
  given(registered, degraded)
    .when(report(40, true, many(5, 30)))
    .thenNothing();
  given(registered, degraded)
    .when(report(40, true, many(4, 31)))
    .thenNothing();
});

test("a receiver that asks for a pause is not probed before its end", () => {
  given(registered)
    .when(report(20, false, inARow(10, 5), { notBefore: at(90) }))
    .then({ ...opened, data: { ...opened.data, next_probe_at: at(90) } } as EndpointEvent);
  const failed = (notBefore: number) => report(31, false, inARow(11, 5), { notBefore: at(notBefore) });
  given(registered, opened, probed(1, 30, 50))
    .when(failed(40))
    .thenNothing();
  given(registered, opened, probed(1, 30, 50))
    .when(failed(90))
    .then({ type: "EndpointProbeDeferred", data: { endpoint_id, next_probe_at: at(90), at: at(31) } });
});

test("a clock that was set back neither prevents a recovery nor makes probes more frequent", () => {
  const probe = (second: number) => ({ type: "ProbeEndpoint", account, eventId: "evt_1", at: at(second) }) as const;
  given(registered, opened).when(probe(-30)).thenNothing();
  const hourAgo = -60 * MINUTE_S;
  given(registered, opened)
    .when(probe(hourAgo))
    .then(probed(1, hourAgo, hourAgo + 20));
  const set = [registered, opened, probed(1, hourAgo, hourAgo + 20)] as const;
  given(...set)
    .when(probe(hourAgo + 19))
    .thenNothing();
  given(...set)
    .when(report(hourAgo + 1, true, counted()))
    .then(recovered("open", hourAgo, hourAgo + 1));
  // Opened on the right clock, and probed on one that was ahead for a while.
  given(registered, opened, probed(1, 60 * MINUTE_S, 60 * MINUTE_S + 20))
    .when(probe(40))
    .then(probed(2, 40, 80));
});

test("one probe is sent when due, and the delay to the next doubles up to five minutes, never before this one ends", () => {
  const probe = (second: number) => ({ type: "ProbeEndpoint", account, eventId: "evt_1", at: at(second) }) as const;
  given(registered).when(probe(30)).thenNothing();
  given(registered, opened).when(probe(29)).thenNothing();
  given(registered, opened)
    .when(probe(30))
    .then(probed(1, 30, 50));
  given(registered, opened, probed(1, 30, 50))
    .when(probe(49))
    .thenNothing();
  given(registered, opened, probed(1, 30, 50))
    .when(probe(50))
    .then(probed(2, 50, 90));
  given(registered, opened, probed(20, 30, 50))
    .when(probe(50))
    .then(probed(21, 50, 350));
  const slow: EndpointEvent = {
    type: "EndpointChanged",
    data: { endpoint_id, changes: { timeout_ms: 60_000 }, at: at(1) },
  };
  given(registered, slow, opened)
    .when(probe(30))
    .then(probed(1, 30, 95));
});

test("while the circuit is open, only attempts that began since then count", () => {
  const open = [registered, opened, probed(1, 30, 50)] as const;
  given(...open)
    .when(report(31, true, counted()))
    .then(recovered("open", 20, 31));
  given(...open)
    .when(report(31, true, counted(), { startedAt: at(19) }))
    .thenNothing();
  given(...open)
    .when(report(31, false, inARow(11, 5)))
    .thenNothing();
});

test("an endpoint is warned once after two and a half days of failures and disabled after five", () => {
  const half = 5 + 2.5 * DAY_S;
  const open = [registered, opened] as const;
  given(...open)
    .when(report(half - 1, false, inARow(50, 5)))
    .thenNothing();
  given(...open)
    .when(report(half, false, inARow(50, 5)))
    .then({
      type: "EndpointWarned",
      data: { endpoint_id, failing_since: at(5), disables_at: at(5 + 5 * DAY_S), at: at(half) },
    });
  given(...open, warned(half))
    .when(report(half + 1, false, inARow(51, 5)))
    .thenNothing();
  given(...open, warned(half))
    .when(report(4 + 5 * DAY_S, false, inARow(51, 5)))
    .thenNothing();
  const reason = `Every delivery has failed since ${at(5)}, for 5 days.`;
  const end = 5 + 5 * DAY_S;
  given(...open, warned(half))
    .when(report(end, false, inARow(51, 5)))
    .then({ type: "EndpointDisabled", data: { endpoint_id, reason, at: at(end) } });
});

test("after a late warning a day is left", () => {
  const late = 5 + 6 * DAY_S;
  given(registered, opened)
    .when(report(late, false, inARow(12, 5)))
    .then({
      type: "EndpointWarned",
      data: { endpoint_id, failing_since: at(5), disables_at: at(late + DAY_S), at: at(late) },
    });
  given(registered, opened, warned(late))
    .when(report(late + DAY_S - 1, false, inARow(12, 5)))
    .thenNothing();
});

test("enabling closes the circuit, a new URL is probed at once, and a disabled endpoint is not judged", () => {
  const enabled: EndpointEvent = { type: "EndpointEnabled", data: { endpoint_id, at: at(40) } };
  const disabled: EndpointEvent = { type: "EndpointDisabled", data: { endpoint_id, reason: "410", at: at(40) } };
  const moved: EndpointEvent = {
    type: "EndpointChanged",
    data: { endpoint_id, changes: { url: "https://b.example/" }, at: at(40) },
  };
  const probe = (second: number) => ({ type: "ProbeEndpoint", account, eventId: "evt_1", at: at(second) }) as const;
  given(registered, opened, enabled)
    .when(report(41, false, inARow(1, 41)))
    .thenNothing();
  given(registered, opened, probed(1, 30, 300), moved)
    .when(probe(40))
    .then(probed(1, 40, 60));
  given(registered, opened, disabled).when(probe(40)).thenNothing();
  given(registered, opened, disabled)
    .when(report(41, true, counted()))
    .thenNothing();
  const state = fold(endpoint, [registered, opened, disabled, enabled]);
  assert.ok(state.phase === "present" && takesDeliveries(state));
  assert.equal([state.circuit, state.wellAt], [{ state: "healthy" }, at(40)]);
});

test("an endpoint catches up after it was open or disabled, not after it was degraded or already enabled", () => {
  const enabled: EndpointEvent = { type: "EndpointEnabled", data: { endpoint_id, at: at(40) } };
  const wellAt = (...events: EndpointEvent[]) => {
    const state = fold(endpoint, [registered, ...events]);
    return state.phase === "present" ? state.wellAt : assert.unreachable();
  };
  assert.is(wellAt(degraded, recovered("degraded", 10, 30)), null);
  assert.is(wellAt(enabled), null);
  assert.is(wellAt(opened, recovered("open", 20, 35)), at(35));
  assert.is(wellAt(opened, recovered("open", 20, 35), enabled), at(35));
});

test("the catch-up rate doubles until no limit is left", () => {
  const wellMs = Date.parse(at(0));
  const rates = [-1_000, 0, 10_000, 30_000, CATCH_UP_MS - 1].map((ms) => catchUpRate(at(0), wellMs + ms));
  assert.equal(rates.slice(0, 4), [10, 10, 20, 80]);
  assert.ok((rates[4] ?? 0) > 10_000);
  assert.equal([catchUpRate(at(0), wellMs + CATCH_UP_MS), catchUpRate(null, wellMs)], [null, null]);
});

test.run();
