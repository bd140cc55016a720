import { CompressionTypes, Partitioners, type Producer } from "kafkajs";
import type { CloudEvent, Feed } from "../../domain/ports/feed.ts";
import { within } from "../within.ts";
import { kafkaClient, REQUEST_MS } from "./client.ts";
import { type Batch, batchesOf, messageOf, withoutData } from "./messages.ts";
import { checkTopic } from "./topic-check.ts";

export type KafkaFeedOptions = {
  /** Each `host:port`. */
  readonly brokers: readonly string[];
  readonly topic: string;
  /** Told of each event that the topic does not take with its data; it was published without. */
  readonly onOmitted?: (event: CloudEvent) => void;
};

/** How long a broker waits for the copies of a batch. */
const ACKS_MS = 10_000;
/** Promises of kafkajs can stay pending for ever when a connection breaks at the wrong moment. */
const SEND_MS = 2 * REQUEST_MS;
const CLOSE_MS = 2_000;

/** As brokers name what they refuse: one message, or a batch. */
const TOO_LARGE: ReadonlySet<string> = new Set(["MESSAGE_TOO_LARGE", "RECORD_LIST_TOO_LARGE"]);
// Its classes of errors are none of the names that Node finds in kafkajs, a CommonJS module.
const isTooLarge = (error: unknown): boolean =>
  error instanceof Error && "type" in error && TOO_LARGE.has(String(error.type));

/**
 * A topic as the feed. Rejects with one sentence when no broker answers or the topic is missing; later failures reject
 * `publish`, which may be called again at any time: each failure ends the connection, and the next call makes a new one.
 *
 * A batch is acknowledged by all copies in sync, and one is under way at a time. An event that the topic does not take
 * (`max.message.bytes`) is published without its data.
 */
export const kafkaFeed = async ({ brokers, topic, onOmitted }: KafkaFeedOptions): Promise<Feed> => {
  await checkTopic(brokers, topic);
  let current: Producer | null = null;
  let isClosed = false;

  const newProducer = (): Producer =>
    kafkaClient(brokers).producer({
      allowAutoTopicCreation: false,
      // Murmur2 of the key, as every Java client has it: consumers can compute the partition of a stream.
      createPartitioner: Partitioners.DefaultPartitioner,
      maxInFlightRequests: 1,
      // A retry inside of kafkajs remembers which brokers have answered, not which messages: after a change of leaders
      // it resolves without having sent all (its pull request 1798). The whole batch is sent again instead, by the caller.
      retry: { retries: 0 },
    });

  // kafkajs reconnects by itself in some cases and in others never (its issues 919 and 979): an end is an end here.
  const end = async (producer: Producer): Promise<void> => {
    if (current === producer) current = null;
    // Not an error of anybody's: the connection is not used any more.
    await producer.disconnect().catch(() => undefined);
  };

  const send = async ({ messages }: Batch): Promise<void> => {
    if (isClosed) throw new Error("The feed is closed.");
    current ??= newProducer();
    const producer = current;
    try {
      // Returns at once when it is connected.
      await within(SEND_MS, "Kafka does not answer.", producer.connect());
      const record = { topic, acks: -1, timeout: ACKS_MS, compression: CompressionTypes.GZIP, messages: [...messages] };
      await within(SEND_MS, "Kafka does not acknowledge.", producer.send(record));
    } catch (error) {
      if (!isTooLarge(error)) void end(producer);
      throw error;
    }
  };

  /** Halves what is refused as too large, down to the event that is. */
  const publish = async (batch: Batch): Promise<void> => {
    try {
      return await send(batch);
    } catch (error) {
      if (!isTooLarge(error)) throw error;
      const [first] = batch.events;
      if (first === undefined || (batch.events.length === 1 && first.data === undefined)) throw error;
    }
    const { events, messages } = batch;
    if (events.length > 1) {
      const middle = Math.ceil(events.length / 2);
      await publish({ events: events.slice(0, middle), messages: messages.slice(0, middle) });
      await publish({ events: events.slice(middle), messages: messages.slice(middle) });
      return;
    }
    const bare = events.map(withoutData);
    await publish({ events: bare, messages: bare.map(messageOf) });
    for (const event of events) onOmitted?.(event);
  };

  return {
    async publish(events) {
      for (const batch of batchesOf(events)) await publish(batch);
    },
    async close() {
      isClosed = true;
      // What does not end in time ends with the process.
      if (current !== null) await within(CLOSE_MS, "Kafka does not hang up.", end(current)).catch(() => undefined);
    },
  };
};
