import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { CloudEvent } from "../../../domain/ports/feed.ts";
import { batchesOf, messageOf, withoutData } from "../../../infra/kafka/messages.ts";
import { cloudEvent } from "../../../src/feed/cloud-event.ts";
import { history } from "../../support/history.ts";
import { POSITIONS } from "../../support/http-app.ts";

const test = suite("messages for Kafka");

const events = (count: number, chars = 10): CloudEvent[] => {
  const log = history();
  return Array.from({ length: count }, (_, i) =>
    cloudEvent(log.add(`delivery-evt_${i % 3}`, { type: "X", data: { i, text: "x".repeat(chars) } }), POSITIONS),
  );
};

test("a message has the stream as key, the event as JSON and the content type", () => {
  const [event] = events(1);
  assert.ok(event);
  const { key, value, headers } = messageOf(event);
  assert.is(key, "delivery-evt_0");
  assert.equal(JSON.parse(value.toString()), event);
  assert.equal(headers, { "content-type": "application/cloudevents+json; charset=utf-8" });
});

test("batches keep the order and are bounded by count and by bytes", () => {
  for (const all of [events(0), events(1_201), events(40, 100_000)]) {
    const batches = [...batchesOf(all)];
    assert.equal(
      batches.flatMap((batch) => batch.events),
      all,
    );
    for (const { events: some, messages } of batches) {
      assert.is(messages.length, some.length);
      assert.ok(some.length <= 500);
      assert.ok(messages.reduce((sum, { value }) => sum + value.length, 0) <= 512 * 1024);
    }
  }
});

test("an event larger than a batch is a batch of its own", () => {
  const [small, large, other] = [...events(1), ...events(1, 600_000), ...events(1)];
  assert.ok(small && large && other);
  assert.equal(
    [...batchesOf([small, large, other])].map((batch) => batch.events.length),
    [1, 1, 1],
  );
});

test("an event without data is small and names where to read the data", () => {
  const [event] = events(1, 600_000);
  assert.ok(event);
  const bare = withoutData(event);
  assert.not.ok("data" in bare);
  assert.is(bare.dataref, "/v1/audit?stream=delivery-evt_0");
  assert.is(bare.id, event.id);
  assert.ok(messageOf(bare).value.length < 1_000);
});

test.run();
