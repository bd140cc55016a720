import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { notKafka } from "../../../infra/kafka/protocol-check.ts";
import { testBrokers } from "../../support/kafka.ts";

/** What answers where Kafka is expected, and is none. */

const test = suite("Kafka: what answers");

/** What `answer` does to each connection, looked at as a broker. */
const judged = async (answer: (socket: Socket) => void): Promise<"may be Kafka" | "is none"> => {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on("error", () => undefined));
    answer(socket);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  // It listens on a port, so its address is one.
  const others = await notKafka([`127.0.0.1:${(server.address() as AddressInfo).port}`]);
  for (const socket of sockets) socket.destroy();
  server.close();
  return others.length === 0 ? "may be Kafka" : "is none";
};

const answering = (bytes: string | Uint8Array) => (socket: Socket) => socket.once("data", () => socket.end(bytes));

test("HTTP, SSH, SMTP, TLS and a few bytes are no Kafka", async () => {
  const others: readonly ((socket: Socket) => void)[] = [
    answering("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n"),
    (socket) => socket.write("SSH-2.0-OpenSSH_9.6\r\n"),
    (socket) => socket.write("220 mail.example.com ESMTP\r\n"),
    answering(new Uint8Array([0x15, 3, 3, 0, 2, 2, 10])),
    answering(new Uint8Array(100)),
  ];
  assert.equal(await Promise.all(others.map(judged)), ["is none", "is none", "is none", "is none", "is none"]);
});

test("a silent or missing broker may be Kafka: the client reports it", async () => {
  assert.is(await judged((socket) => socket.destroy()), "may be Kafka");
  assert.equal(await notKafka(["127.0.0.1:1", "[::1]:1", "no-such-host.invalid:9092"]), []);
});

const brokers = testBrokers("that a broker is taken for one");
if (brokers !== null) {
  test("a broker is recognised", async () => {
    assert.equal(await notKafka(brokers), []);
  });
}

test.run();
