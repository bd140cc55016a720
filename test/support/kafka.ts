import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { Kafka, logLevel } from "kafkajs";
import { skipped } from "./skipped.ts";
import { until } from "./until.ts";

export type Consumed = {
  readonly partition: number;
  readonly offset: number;
  readonly key: string;
  readonly value: string;
  readonly headers: Readonly<Record<string, string>>;
};

/** A topic of its own on the broker that the environment names. */
export type TestTopic = {
  readonly brokers: readonly string[];
  readonly name: string;
  /** What stands in the topic, partition by partition, once `isAll` says so; fails after 30 s. */
  read(isAll: (consumed: readonly Consumed[]) => boolean): Promise<readonly Consumed[]>;
  remove(): Promise<void>;
};

const READ_MS = 30_000;
const PARTITIONS = 3;

/** The brokers to test with, or null after the tests of `what` have been counted as skipped. */
export const testBrokers = (what: string): readonly string[] | null => {
  const { KAFKA_BROKERS } = process.env;
  if (KAFKA_BROKERS) return KAFKA_BROKERS.split(",");
  skipped(what, "KAFKA_BROKERS is not set");
  return null;
};

export const testTopic = async (
  brokers: readonly string[],
  config: Readonly<Record<string, string>> = {},
): Promise<TestTopic> => {
  const name = `test-feed-${randomBytes(6).toString("hex")}`;
  const kafka = new Kafka({ clientId: "test", brokers: [...brokers], logLevel: logLevel.NOTHING });
  const admin = kafka.admin();
  await admin.connect();
  const configEntries = Object.entries(config).map(([key, value]) => ({ name: key, value }));
  await admin.createTopics({
    topics: [{ topic: name, numPartitions: PARTITIONS, configEntries }],
    waitForLeaders: false,
  });
  // Asks the leader of each partition: for a moment the broker is named as one and does not know it yet.
  const isLed = () =>
    admin.fetchTopicOffsets(name).then(
      (offsets) => offsets.length === PARTITIONS,
      () => false,
    );
  await until("its partitions are led", isLed, READ_MS);
  return {
    brokers,
    name,
    async read(isAll) {
      const groupId = `${name}-${randomBytes(4).toString("hex")}`;
      const consumer = kafka.consumer({ groupId, maxWaitTimeInMs: 100 });
      const consumed: Consumed[] = [];
      await consumer.connect();
      await consumer.subscribe({ topics: [name], fromBeginning: true });
      try {
        await new Promise<void>((resolve, reject) => {
          const timer = setTimeout(() => reject(new Error(`only ${consumed.length} in ${name}`)), READ_MS);
          const look = (): void => {
            if (!isAll(consumed)) return;
            clearTimeout(timer);
            resolve();
          };
          look();
          const running = consumer.run({
            async eachMessage({ partition, message: { offset, key, value, headers = {} } }) {
              const shown = Object.entries(headers).map(([header, text]) => [header, String(text)]);
              consumed.push({
                partition,
                offset: Number(offset),
                key: String(key),
                value: String(value),
                headers: Object.fromEntries(shown),
              });
              look();
            },
          });
          running.catch(reject);
        });
      } finally {
        await consumer.disconnect();
        await admin.deleteGroups([groupId]).catch(() => undefined);
      }
      return consumed;
    },
    async remove() {
      await admin.deleteTopics({ topics: [name] });
      await admin.disconnect();
    },
  };
};

/** A way to a broker that can be cut; the broker's own address is replaced in what it tells its clients. */
export type KafkaProxy = { readonly address: string; cut(): void; restore(): void; stop(): Promise<void> };

/** Kafka writes a broker as a string with its length in two bytes, and the port in four (protocol guide, Metadata). */
const written = (host: string, port: number): Buffer => {
  const bytes = Buffer.alloc(2 + host.length + 4);
  bytes.writeUInt16BE(host.length, 0);
  bytes.write(host, 2, "latin1");
  bytes.writeUInt32BE(port, 2 + host.length);
  return bytes;
};

export const kafkaProxy = async (broker: string): Promise<KafkaProxy> => {
  const [host = "", portText = ""] = broker.split(":");
  const sockets = new Set<Socket>();
  let isCut = false;
  const server = createServer((client) => {
    if (isCut) {
      client.resetAndDestroy();
      return;
    }
    const upstream = connect(Number(portText), host);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", () => undefined);
      socket.once("close", () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    client.pipe(upstream);
    upstream.on("data", (chunk: Buffer) => {
      const at = chunk.indexOf(real);
      if (at !== -1) own.copy(chunk, at);
      client.write(chunk);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  const real = written(host, Number(portText));
  const own = written(host, address.port);
  return {
    address: `127.0.0.1:${address.port}`,
    cut() {
      isCut = true;
      for (const socket of sockets) socket.destroy();
    },
    restore() {
      isCut = false;
    },
    async stop() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
};
