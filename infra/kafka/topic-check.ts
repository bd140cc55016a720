import { errorMessage } from "../error-message.ts";
import { withTimeout } from "../with-timeout.ts";
import { kafkaClient } from "./client.ts";
import { notKafka } from "./protocol-check.ts";

const CHECK_MS = 20_000;

const topicsOf = async (brokers: readonly string[]): Promise<readonly string[]> => {
  const admin = kafkaClient(brokers).admin();
  const listing = (async () => {
    await admin.connect();
    // A broker that is asked about one missing topic may create it, so all topics are listed.
    return await admin.listTopics();
  })();
  try {
    return await withTimeout(CHECK_MS, `no answer within ${CHECK_MS / 1_000} s`, listing);
  } finally {
    admin.disconnect().catch(() => undefined);
  }
};

export const checkTopic = async (brokers: readonly string[], topic: string): Promise<void> => {
  const [first = ""] = brokers;
  const others = await notKafka(brokers);
  if (others.length > 0) throw new Error(`what answers at ${others.join(",")} is no Kafka: correct KAFKA_BROKERS.`);
  const topics = await topicsOf(brokers).catch((error: unknown) => {
    throw new Error(
      `no broker answers at ${brokers.join(",")} (${errorMessage(error)}): start Kafka, or correct KAFKA_BROKERS.`,
    );
  });
  if (topics.includes(topic)) return;
  throw new Error(
    `the topic ${topic} does not exist: create it (kafka-topics.sh --bootstrap-server ${first} --create --topic ${topic} --partitions 12), or set KAFKA_TOPIC.`,
  );
};
