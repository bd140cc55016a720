import { randomBytes } from "node:crypto";
import { Kafka as Binding, CloudEvent as Validated } from "cloudevents";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { EventLog } from "../../../domain/ports/event-log.ts";
import type { CloudEvent, Feed } from "../../../domain/ports/feed.ts";
import { kafkaFeed } from "../../../infra/kafka/feed.ts";
import { memoryEventLog } from "../../../infra/memory/event-log.ts";
import { cloudEvent } from "../../../src/feed/cloud-event.ts";
import { FeedLoop } from "../../../src/feed/feed-loop.ts";
import { history } from "../../support/history.ts";
import { POSITIONS } from "../../support/http-app.ts";
import { type Consumed, kafkaProxy, type TestTopic, testBrokers, testTopic } from "../../support/kafka.ts";
import { until } from "../../support/until.ts";

const test = suite("feed to Kafka");
const brokers = testBrokers("the feed to Kafka");

const STREAMS = 7;
const events = (count: number, text: (i: number) => string = () => ""): CloudEvent[] => {
  const log = history();
  return Array.from({ length: count }, (_, i) =>
    cloudEvent(log.add(`delivery-evt_${i % STREAMS}`, { type: "Happened", data: { i, text: text(i) } }), POSITIONS),
  );
};

const idsByStream = (all: readonly { readonly subject: string; readonly id: string }[]) =>
  Object.fromEntries(
    Array.from({ length: STREAMS }, (_, i) => [
      `delivery-evt_${i}`,
      all.filter(({ subject }) => subject === `delivery-evt_${i}`).map(({ id }) => id),
    ]),
  );

const eventsIn = (consumed: readonly Consumed[]): CloudEvent[] => consumed.map(({ value }) => JSON.parse(value));
const atLeast = (count: number) => (consumed: readonly Consumed[]) => consumed.length >= count;
/** As the real thing may carry repeats: what matters is when each came first. */
const firsts = (all: readonly CloudEvent[]): CloudEvent[] => [...new Map(all.map((it) => [it.id, it])).values()];

test("unreachable brokers are reported in one sentence that says what to do", async () => {
  const refused = await kafkaFeed({ brokers: ["127.0.0.1:9"], topic: "t" }).catch((error: Error) => error.message);
  assert.match(
    String(refused),
    /^no broker answers at 127\.0\.0\.1:9 \(.*\): start Kafka, or correct KAFKA_BROKERS\.$/,
  );
  assert.not.match(String(refused), "\n");
});

const LIMIT_MS = 20_000;
const TIMES = { checkpointMs: 50, lookMs: 50, takeOverMs: 1_500, backoffMinMs: 50, backoffMaxMs: 300 };

const add = async (log: EventLog, from: number, count: number): Promise<void> => {
  for (let i = from; i < from + count; i += 1) {
    const record = history().add("delivery-evt", { type: "Happened", data: { i } });
    await log.append(`delivery-evt_${i % STREAMS}`, "any", [{ ...record, id: `record-${i}` }]);
  }
};

const begin = (log: EventLog, feed: Feed, node: string, errors: unknown[] = []): FeedLoop => {
  const onError = (error: unknown) => errors.push(error);
  const clock = { now: () => Date.now() };
  const loop = new FeedLoop({
    log,
    feed,
    positions: POSITIONS,
    node,
    clock,
    othersAreGone: false,
    onError,
    times: TIMES,
  });
  loop.start();
  return loop;
};

/** Nothing is missing, and within each stream each record came for the first time behind the one before it. */
const checkTopic = async (topic: TestTopic, count: number): Promise<void> => {
  const consumed = await topic.read((some) => firsts(eventsIn(some)).length >= count);
  const all = firsts(eventsIn(consumed));
  for (let i = 0; i < STREAMS; i += 1) {
    const revisions = all.filter(({ subject }) => subject === `delivery-evt_${i}`).map(({ revision }) => revision);
    assert.equal(
      revisions,
      revisions.map((_, index) => index),
    );
  }
};

if (brokers !== null) {
  test("a missing topic is reported with the command to create it, and is not created", async () => {
    for (let i = 0; i < 2; i += 1) {
      const refused = await kafkaFeed({ brokers, topic: "no-such-topic" }).catch((error: Error) => error.message);
      assert.match(
        String(refused),
        /^the topic no-such-topic does not exist: create it \(kafka-topics\.sh .+\), or set KAFKA_TOPIC\.$/,
      );
    }
  });

  test("all events arrive as structured CloudEvents, each stream in order in one partition", async () => {
    const topic = await testTopic(brokers);
    const feed = await kafkaFeed({ brokers, topic: topic.name });
    try {
      const all = events(1_203);
      await feed.publish(all.slice(0, 800));
      await feed.publish(all.slice(800));
      await feed.publish([]);
      const consumed = await topic.read(atLeast(all.length));
      assert.is(consumed.length, all.length);
      assert.equal(idsByStream(eventsIn(consumed)), idsByStream(all));
      for (let i = 0; i < STREAMS; i += 1) {
        const own = consumed.filter(({ key }) => key === `delivery-evt_${i}`);
        assert.is(new Set(own.map(({ partition }) => partition)).size, 1);
      }
      for (const { key, value, headers } of consumed.slice(0, 50)) {
        assert.equal(headers, { "content-type": "application/cloudevents+json; charset=utf-8" });
        const event = JSON.parse(value) as CloudEvent;
        assert.is(key, event.subject);
        assert.ok(new Validated({ ...event }, true).validate());
        const message = { key, value, headers: { ...headers }, body: value, timestamp: "0" };
        assert.equal(
          [Binding.toEvent(message)].flat().map(({ id }) => id),
          [event.id],
        );
      }
    } finally {
      await feed.close();
      await topic.remove();
    }
  });

  test("an event that the topic refuses is published without its data, in order, and reported", async () => {
    const topic = await testTopic(brokers, { "max.message.bytes": "3000" });
    const omitted: string[] = [];
    const feed = await kafkaFeed({ brokers, topic: topic.name, onOmitted: ({ id }) => omitted.push(id) });
    // What repeats would be compressed to next to nothing.
    const long = randomBytes(9_000).toString("base64");
    try {
      const all = events(40, (i) => (i === 9 || i === 30 ? long : ""));
      await feed.publish(all);
      const isAll = (consumed: readonly Consumed[]) => firsts(eventsIn(consumed)).length >= all.length;
      const read = firsts(eventsIn(await topic.read(isAll)));
      assert.equal(idsByStream(read), idsByStream(all));
      const bare = read.filter((event) => event.data === undefined);
      assert.equal(bare.map(({ id }) => id).sort(), [all[9]?.id, all[30]?.id].sort());
      assert.ok(bare.every(({ dataref }) => dataref?.startsWith("/v1/audit?stream=delivery-evt_")));
      assert.equal(omitted, [all[9]?.id, all[30]?.id]);
    } finally {
      await feed.close();
      await topic.remove();
    }
  });

  test("while the broker is away publishing fails, and the next call after its return succeeds", async () => {
    const topic = await testTopic(brokers);
    const proxy = await kafkaProxy(brokers[0] ?? "");
    const feed = await kafkaFeed({ brokers: [proxy.address], topic: topic.name });
    try {
      const all = events(60);
      await feed.publish(all.slice(0, 20));
      proxy.cut();
      for (let i = 0; i < 2; i += 1) {
        const failed = await feed.publish(all.slice(20, 40)).then(
          () => null,
          (error: unknown) => error,
        );
        assert.ok(failed instanceof Error);
      }
      proxy.restore();
      await feed.publish(all.slice(20, 40));
      await feed.publish(all.slice(40));
      const consumed = await topic.read(atLeast(all.length));
      assert.equal(idsByStream(firsts(eventsIn(consumed))), idsByStream(all));
    } finally {
      await feed.close();
      await proxy.stop();
      await topic.remove();
    }
  });

  test("a closed feed publishes nothing", async () => {
    const topic = await testTopic(brokers);
    const feed = await kafkaFeed({ brokers, topic: topic.name });
    await feed.publish(events(1));
    await feed.close();
    const failed = await feed.publish(events(1)).catch((error: Error) => error.message);
    assert.is(failed, "The feed is closed.");
    await topic.remove();
  });

  test("repeated outages of a broker lose and reorder nothing", async () => {
    const topic = await testTopic(brokers);
    const proxy = await kafkaProxy(brokers[0] ?? "");
    const feed = await kafkaFeed({ brokers: [proxy.address], topic: topic.name });
    const log = memoryEventLog();
    const errors: unknown[] = [];
    const loop = begin(log, feed, "node_a", errors);
    try {
      for (let round = 0; round < 3; round += 1) {
        await add(log, round * 400, 200);
        await until("all is published", () => loop.status().published >= round * 400 + 200, LIMIT_MS);
        proxy.cut();
        const failed = errors.length;
        await add(log, round * 400 + 200, 200);
        await until("it has failed twice", () => errors.length >= failed + 2, LIMIT_MS);
        assert.is(loop.status().state, "failing");
        proxy.restore();
        await until("all is published", () => loop.status().published >= (round + 1) * 400, LIMIT_MS);
      }
      await checkTopic(topic, 1_200);
    } finally {
      await loop.stop(2_000);
      await feed.close();
      await proxy.stop();
      await topic.remove();
    }
  });

  test("of two nodes with one topic, one replaces the other that is cut off, and the stream stays whole", async () => {
    const topic = await testTopic(brokers);
    const proxy = await kafkaProxy(brokers[0] ?? "");
    const feeds = [
      await kafkaFeed({ brokers: [proxy.address], topic: topic.name }),
      await kafkaFeed({ brokers, topic: topic.name }),
    ] as const;
    const log = memoryEventLog();
    const a = begin(log, feeds[0], "node_a");
    const loops = [a];
    try {
      await until("a feeds", () => a.status().state === "publishing");
      const b = begin(log, feeds[1], "node_b");
      loops.push(b);
      await add(log, 0, 300);
      await until("a has published", () => a.status().published === 300, LIMIT_MS);
      assert.is(b.status().published, 0);
      proxy.cut();
      await add(log, 300, 300);
      await until("b has published the rest", () => b.status().published >= 300, LIMIT_MS);
      proxy.restore();
      await until("a stands by", () => a.status().state === "standing-by", LIMIT_MS);
      await add(log, 600, 300);
      await until("b has published on", () => b.status().published >= 600, LIMIT_MS);
      await checkTopic(topic, 900);
    } finally {
      for (const loop of loops) await loop.stop(2_000);
      for (const feed of feeds) await feed.close();
      await proxy.stop();
      await topic.remove();
    }
  });
}

test.run();
