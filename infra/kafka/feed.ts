import { CompressionTypes, Partitioners, type Producer } from "kafkajs";
import type { CloudEvent, Feed } from "../../domain/ports/feed.ts";
import { withTimeout } from "../with-timeout.ts";
import { kafkaClient, REQUEST_MS } from "./client.ts";
import { type Batch, batchesOf, messageOf, withoutData } from "./messages.ts";
import { checkTopic } from "./topic-check.ts";

export type KafkaFeedOptions = {
  readonly brokers: readonly string[];
  readonly topic: string;
  readonly onOmitted?: (event: CloudEvent) => void;
};

const ACKS_MS = 10_000;
/** Milliseconds for a call of kafkajs, whose promises can stay pending when a connection breaks. */
const SEND_MS = 2 * REQUEST_MS;
const CLOSE_MS = 2_000;

const TOO_LARGE: ReadonlySet<string> = new Set(["MESSAGE_TOO_LARGE", "RECORD_LIST_TOO_LARGE"]);
// The error's `type` is compared, because Node cannot import kafkajs's error classes from its CommonJS module.
const isTooLarge = (error: unknown): boolean =>
  error instanceof Error && "type" in error && TOO_LARGE.has(String(error.type));

/**
 * Rejects with one sentence when no broker answers or the topic is missing. A later failure ends the connection, and
 * the next call makes a new one.
 */
export const kafkaFeed = async ({ brokers, topic, onOmitted }: KafkaFeedOptions): Promise<Feed> => {
  await checkTopic(brokers, topic);
  let current: Producer | null = null;
  let isClosed = false;

  const newProducer = (): Producer =>
    kafkaClient(brokers).producer({
      allowAutoTopicCreation: false,
      // Murmur2 of the key, as in every Java client, lets consumers compute a stream's partition.
      createPartitioner: Partitioners.DefaultPartitioner,
      maxInFlightRequests: 1,
      // kafkajs must not retry, because it may lose messages after a change of leaders (its pull request 1798); the
      // feed's callers retry instead.
      retry: { retries: 0 },
    });

  // kafkajs reconnects by itself only sometimes (its issues 919 and 979), so a failed producer is dropped.
  const end = async (producer: Producer): Promise<void> => {
    if (current === producer) current = null;
    await producer.disconnect().catch(() => undefined);
  };

  const send = async ({ messages }: Batch): Promise<void> => {
    if (isClosed) throw new Error("The feed is closed.");
    current ??= newProducer();
    const producer = current;
    try {
      await withTimeout(SEND_MS, "Kafka does not answer.", producer.connect());
      const record = { topic, acks: -1, timeout: ACKS_MS, compression: CompressionTypes.GZIP, messages: [...messages] };
      await withTimeout(SEND_MS, "Kafka does not acknowledge.", producer.send(record));
    } catch (error) {
      if (!isTooLarge(error)) void end(producer);
      throw error;
    }
  };

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
      if (current !== null) await withTimeout(CLOSE_MS, "Kafka does not hang up.", end(current)).catch(() => undefined);
    },
  };
};
