import { CloudEvent, HTTP } from "cloudevents";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { cloudEvent, isFed } from "../../../src/feed/cloud-event.ts";
import { NO_TRACE } from "../../../src/streams/envelope.ts";
import { endpointRegistered, history } from "../../support/history.ts";
import { POSITIONS } from "../../support/http-app.ts";

const test = suite("cloud event");

const parsed = (event: ReturnType<typeof cloudEvent>) =>
  HTTP.toEvent({ headers: { "content-type": "application/cloudevents+json" }, body: JSON.stringify(event) });

test("a record is a valid CloudEvent with what is known of it", () => {
  const record = history().add("delivery-evt_1", { type: "EventAdmitted", data: { event_id: "evt_1" } });
  const event = cloudEvent({ ...record, meta: { ...record.meta, causation_id: "cause" } }, POSITIONS);
  assert.equal(event, {
    specversion: "1.0",
    id: record.id,
    source: "/accounts/acc_1/streams/delivery-evt_1",
    type: "io.countersign.EventAdmitted.v1",
    subject: "delivery-evt_1",
    time: "2026-03-01T12:00:01.000Z",
    datacontenttype: "application/json",
    account: "acc_1",
    revision: 0,
    position: POSITIONS.of("0000000000000001"),
    actorkind: "system",
    actorid: "deliverer",
    traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    causationid: "cause",
    data: { event_id: "evt_1" },
  });
  // Throws what the specification does not allow.
  assert.ok(new CloudEvent({ ...event }, true).validate());
  assert.equal(
    [parsed(event)].flat().map(({ id, source }) => [id, source]),
    [[record.id, event.source]],
  );
});

test("the event of a record without account and trace leaves both out and stays valid", () => {
  const record = history().add("ledger-day é/1", { type: "Reserved", data: { entries: [] } }, { account: "" });
  const event = cloudEvent({ ...record, meta: { ...record.meta, ...NO_TRACE } }, POSITIONS);
  assert.is(event.source, "/streams/ledger-day%20%C3%A9%2F1");
  for (const name of ["account", "traceparent", "causationid"]) assert.not.ok(name in event, name);
  assert.ok(new CloudEvent({ ...event }, true).validate());
});

test("attribute names are what CloudEvents allows, and none is empty", () => {
  const event = cloudEvent(history().add("account-acc_1", { type: "AccountOpened", data: {} }), POSITIONS);
  for (const [name, value] of Object.entries(event)) {
    assert.match(name, /^[a-z0-9]{1,20}$/);
    assert.is.not(value, "", name);
  }
});

test("nothing sealed is in the data: secrets, passwords, and an endpoint's own headers", () => {
  const log = history();
  const changed = { type: "EndpointChanged", data: { changes: { headers: { "x-key": "ciphertext" }, name: "n" } } };
  const records = [
    log.add("endpoint-end_1", endpointRegistered()),
    log.add("endpoint-end_1", changed),
    log.add("source-src_1", { type: "SourceRegistered", data: { secret: "ciphertext" } }),
    log.add("email-hash", { type: "EmailClaimed", data: { password: "ciphertext", member: "mem_1" } }),
  ];
  for (const record of records) {
    const text = JSON.stringify(cloudEvent(record, POSITIONS));
    for (const secret of ["ciphertext", "sealed-header", "sealed-secret"]) assert.not.ok(text.includes(secret), text);
  }
});

test("payloads and checkpoints are no records", () => {
  for (const stream of ["payload-evt_1", "payload-idem_1", "checkpoint-feed", "checkpoint-ledger-pol_1"])
    assert.not.ok(isFed({ stream }), stream);
  for (const stream of ["delivery-evt_1", "account-checkpoint-1", "session-payload-"])
    assert.ok(isFed({ stream }), stream);
});

test.run();
