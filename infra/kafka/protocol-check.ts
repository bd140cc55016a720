import { connect } from "node:net";

const ANSWER_MS = 5_000;
const CORRELATION_ID = 0x43534c47;
/** An answer begins with its length and its correlation id: https://kafka.apache.org/protocol#protocol_messages */
const HEAD_BYTES = 8;

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

/** True unless what answers is not Kafka. A silent or unreachable broker is left to kafkajs, which reports it. */
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

export const notKafka = async (brokers: readonly string[]): Promise<readonly string[]> => {
  const answers = await Promise.all(brokers.map(mayBeKafka));
  return brokers.filter((_broker, index) => answers[index] === false);
};
