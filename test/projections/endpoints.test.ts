import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { JsonObject } from "../../domain/json.ts";
import { type EndpointDocument, endpoints, healthOf } from "../../projections/endpoints.ts";
import { at, deliveryFacts, endpointRegistered, history, START } from "../support/history.ts";
import { folded } from "../support/projected.ts";

const test = suite("endpoints view");
const facts = deliveryFacts();
const HOUR_S = 3_600;

const world = () => {
  const log = history();
  log.add("endpoint-end_1", endpointRegistered());
  return {
    ...log,
    document: (): EndpointDocument => {
      const document = folded(endpoints, log.events).get<EndpointDocument>("end_1");
      assert.ok(document);
      return document;
    },
  };
};
const health = (document: EndpointDocument, second: number) => healthOf(document, START + second * 1_000);

test("settings are shown without anything sealed, and follow changes", () => {
  const it = world();
  const document = it.document();
  assert.not.match(JSON.stringify(document), /sealed/);
  assert.equal([document.name, document.header_names, document.deleted], ["orders", ["authorization"], 0]);
  const changes = { name: "new", headers: { "x-a": { sealed: "sealed", digest: null } } };
  it.add("endpoint-end_1", { type: "EndpointChanged", data: { endpoint_id: "end_1", changes, at: at(1) } });
  it.add("endpoint-end_1", {
    type: "EndpointSecretRotated",
    data: { endpoint_id: "end_1", secret: "sealed", at: at(2) },
  });
  const changed = it.document();
  assert.equal([changed.name, changed.url, changed.header_names], ["new", document.url, ["x-a"]]);
  assert.not.match(JSON.stringify(changed), /sealed/);
});

test("disabled, enabled and deleted are shown; a deleted one stays for its events", () => {
  const it = world();
  it.add("endpoint-end_1", { type: "EndpointDisabled", data: { endpoint_id: "end_1", reason: "410", at: at(1) } });
  assert.is(health(it.document(), 2).state, "disabled");
  it.add("endpoint-end_1", { type: "EndpointEnabled", data: { endpoint_id: "end_1", at: at(3) } });
  assert.is(health(it.document(), 4).state, "healthy");
  it.add("endpoint-end_1", { type: "EndpointDeleted", data: { endpoint_id: "end_1", at: at(5) } });
  assert.is(it.document().deleted, 1);
});

test("queued counts the admitted events that have not ended", () => {
  const it = world();
  for (const id of ["evt_1", "evt_2", "evt_3"]) it.add(`delivery-${id}`, deliveryFacts(id).admitted());
  it.add("delivery-evt_1", facts.started(1, 1));
  it.add("delivery-evt_1", facts.succeeded(1, 2));
  it.add("delivery-evt_1", facts.delivered(2));
  it.add("delivery-evt_2", deliveryFacts("evt_2").failed(2));
  assert.is(it.document().queued, 1);
});

test("rates, percentiles and failures in a row are of the last hour, by the events' own times", () => {
  const it = world();
  for (let i = 0; i < 8; i += 1) it.add("delivery-evt_1", facts.succeeded(i + 1, i * 60, 10));
  it.add("delivery-evt_1", facts.attemptFailed(9, 500, at(600), 1_000));
  it.add("delivery-evt_1", facts.attemptFailed(10, 600, null, 1_000));
  const now = health(it.document(), 700);
  assert.equal([now.success_rate_1h, now.p50_ms, now.consecutive_failures, now.last_success_at], [0.8, 10, 2, at(420)]);
  assert.ok(Math.abs((now.p99_ms ?? 0) - 1_000) < 63);
  assert.equal(now.last_failure, { at: at(600), kind: "http-5xx", status_code: 503, event_id: "evt_1", attempt: 10 });

  const later = health(it.document(), 2 * HOUR_S);
  assert.equal([later.success_rate_1h, later.p50_ms], [null, null]);
});

test("failures in a row are counted until one succeeds", () => {
  const it = world();
  for (let i = 0; i < 3; i += 1) it.add("delivery-evt_1", facts.attemptFailed(i + 1, i, at(i + 1)));
  assert.is(health(it.document(), 4).consecutive_failures, 3);
  it.add("delivery-evt_1", facts.succeeded(4, 5));
  assert.is(health(it.document(), 6).consecutive_failures, 0);
});

test("an endpoint's state follows its stream: degraded, open with the next probe, healthy", () => {
  const it = world();
  const tell = (type: string, data: JsonObject): readonly unknown[] => {
    it.add("endpoint-end_1", { type, data: { endpoint_id: "end_1", ...data } });
    const { state, since, next_probe_at } = health(it.document(), 10_000);
    return [state, since, next_probe_at];
  };
  const counts = { consecutive_failures: 10, attempts: 12, failed: 12 };
  assert.equal(tell("EndpointDegraded", { ...counts, at: at(1) }), ["degraded", at(1), null]);
  const opened = { ...counts, reason: "failures-in-a-row", failing_since: at(0), next_probe_at: at(12), at: at(2) };
  assert.equal(tell("EndpointOpened", opened), ["open", at(2), at(12)]);
  assert.equal(tell("EndpointProbed", { event_id: "evt_1", probe: 1, next_probe_at: at(32), at: at(12) }), [
    "open",
    at(2),
    at(32),
  ]);
  assert.equal(tell("EndpointProbeDeferred", { next_probe_at: at(90), at: at(13) }), ["open", at(2), at(90)]);
  assert.equal(tell("EndpointChanged", { changes: { url: "https://other.example/" }, at: at(14) }), [
    "open",
    at(2),
    at(14),
  ]);
  assert.equal(tell("EndpointWarned", { failing_since: at(0), disables_at: at(99), at: at(15) }), [
    "open",
    at(2),
    at(14),
  ]);
  assert.equal(tell("EndpointDisabled", { reason: "5 days", at: at(16) }), ["disabled", at(16), null]);
  assert.equal(tell("EndpointEnabled", { at: at(17) }), ["healthy", null, null]);
  tell("EndpointOpened", opened);
  assert.equal(tell("EndpointRecovered", { from: "open", since: at(2), at: at(20) }), ["healthy", null, null]);
});

test("an hour of buckets is kept, also when a clock is behind or jumps", () => {
  const it = world();
  for (let i = 0; i < 40; i += 1) it.add("delivery-evt_1", facts.succeeded(i + 1, i * 300));
  it.add("delivery-evt_1", facts.succeeded(41, 39 * 300 - 600));
  it.add("delivery-evt_1", facts.succeeded(42, 0));
  const { buckets } = it.document();
  assert.is(buckets.length, 12);
  assert.is(
    buckets.reduce((sum, { succeeded }) => sum + succeeded, 0),
    13,
  );
  it.add("delivery-evt_1", facts.succeeded(43, 100 * HOUR_S));
  assert.is(it.document().buckets.length, 1);
});

test("attempts for an unknown endpoint are ignored", () => {
  const log = history();
  log.add("delivery-evt_1", facts.admitted());
  log.add("delivery-evt_2", deliveryFacts("evt_2", "").failed(1));
  assert.equal(folded(endpoints, log.events).all(), {});
});

test("a held event is not queued; a released one is, until it is delivered or cancelled", () => {
  const it = world();
  it.add("delivery-evt_1", facts.held());
  it.add("delivery-evt_2", facts.held());
  assert.is(it.document().queued, 0);
  it.add("delivery-evt_1", facts.released(5));
  it.add("delivery-evt_2", facts.holdEnded(5, "rejected"));
  assert.is(it.document().queued, 1);
  it.add("delivery-evt_1", facts.cancelled(6));
  assert.is(it.document().queued, 0);
});

test.run();
