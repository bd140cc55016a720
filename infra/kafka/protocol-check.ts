import { connect } from "node:net";

/**
 * Whether what listens on a port speaks Kafka: kafkajs reads any answer as if it were, and what it then does, an exception
 * that nobody can catch among it, ends the process.
 */

const ANSWER_MS = 5_000;
/** Ours in the answer, which hardly anything else gives back. */
const CORRELATION_ID = 0x43534c47;
/** Length and correlation id: https://kafka.apache.org/protocol#protocol_messages */
const HEAD_BYTES = 8;

/** ApiVersions, version 0, which every broker since 0.10 answers, without a client id. */
const question = (): Uint8Array => {
  const [apiKey, apiVersion, noClientId] = [18, 0, -1];
  const request = Buffer.alloc(14);
  request.writeInt32BE(request.length - 4, 0);
  request.writeInt16BE(apiKey, 4);
  request.writeInt16BE(apiVersion, 6);
  request.writeInt32BE(CORRELATION_ID, 8);
  request.writeInt16BE(noClientId, 12);
  return request;
};

/** True as well for who says nothing or cannot be reached: whoever uses the broker learns that in its own words. */
const mayBeKafka = (broker: string): Promise<boolean> =>
  new Promise((resolve) => {
    const colon = broker.lastIndexOf(":");
    const host = broker.slice(0, colon).replace(/^\[|\]$/g, "");
    const socket = connect({ host, port: Number(broker.slice(colon + 1)), timeout: ANSWER_MS });
    let answer = Buffer.alloc(0);
    const end = (mayBe: boolean): void => {
      socket.destroy();
      resolve(mayBe);
    };
    socket.once("connect", () => socket.write(question()));
    socket.on("data", (data) => {
      answer = Buffer.concat([answer, data]);
      if (answer.length >= HEAD_BYTES) end(answer.readInt32BE(4) === CORRELATION_ID);
    });
    socket.once("end", () => end(answer.length === 0));
    socket.once("timeout", () => end(answer.length === 0));
    socket.once("error", () => end(true));
  });

/** Those of the brokers that surely are none. */
export const notKafka = async (brokers: readonly string[]): Promise<readonly string[]> => {
  const answers = await Promise.all(brokers.map(mayBeKafka));
  return brokers.filter((_broker, index) => answers[index] === false);
};
