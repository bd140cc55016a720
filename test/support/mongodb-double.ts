import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createServer, type Socket } from "node:net";
import { BSON, type Document } from "mongodb";

/**
 * A server that speaks enough of the MongoDB Wire Protocol to greet the driver as a single primary, and answers every
 * other command as it is told: for what a real server cannot be made to do on demand.
 */
export type MongodbDouble = {
  /** host:port */
  readonly host: string;
  /** From the next command on; null: no answer, "cut": the connection is closed instead. */
  answerWith(answer: (command: Document) => Document | null | "cut"): void;
  stop(): Promise<void>;
};

// MongoDB Wire Protocol, "Opcodes": the driver greets with OP_QUERY, is answered by OP_REPLY, and then speaks OP_MSG.
const OP_REPLY = 1;
const OP_QUERY = 2004;
const OP_MSG = 2013;
const HEADER_BYTES = 16;

const GREETINGS: ReadonlySet<string> = new Set(["hello", "ismaster", "isMaster"]);

const greeting = (): Document => ({
  ok: 1,
  helloOk: true,
  isWritablePrimary: true,
  ismaster: true,
  maxBsonObjectSize: 16 * 1024 * 1024,
  maxMessageSizeBytes: 48_000_000,
  maxWriteBatchSize: 100_000,
  minWireVersion: 0,
  maxWireVersion: 21,
  connectionId: 1,
});

/** What most commands may be answered with. */
export const agreeing = (command: Document): Document => {
  const { find, listIndexes, listCollections, findAndModify, createIndexes, insert } = command;
  if (find !== undefined || listIndexes !== undefined || listCollections !== undefined)
    return { ok: 1, cursor: { id: 0n, ns: "d.c", firstBatch: [] } };
  if (findAndModify !== undefined)
    return { ok: 1, value: { ...command.query, ...command.update.$setOnInsert }, lastErrorObject: { n: 1 } };
  return createIndexes !== undefined || insert !== undefined ? { ok: 1, n: 1 } : { ok: 1 };
};

const message = (replyTo: number, operation: number, body: Uint8Array): Uint8Array => {
  const header = Buffer.alloc(HEADER_BYTES);
  for (const [at, value] of [HEADER_BYTES + body.length, 1, replyTo, operation].entries())
    header.writeInt32LE(value, at * 4);
  return Buffer.concat([header, body]);
};

const reply = (replyTo: number, operation: number, document: Document): Uint8Array => {
  const bson = BSON.serialize(document);
  if (operation === OP_MSG) return message(replyTo, OP_MSG, Buffer.concat([Buffer.alloc(5), bson]));
  const flags = Buffer.alloc(20);
  flags.writeInt32LE(1, 16);
  return message(replyTo, OP_REPLY, Buffer.concat([flags, bson]));
};

/** The command's own document; further sections carry what it is about, which no answer here depends on. */
const commandOf = (operation: number, body: Buffer): Document => {
  if (operation === OP_MSG) return BSON.deserialize(body.subarray(5, 5 + body.readInt32LE(5)));
  const name = body.indexOf(0, 4);
  const at = name + 1 + 8;
  return BSON.deserialize(body.subarray(at, at + body.readInt32LE(at)));
};

export const startMongodbDouble = async (): Promise<MongodbDouble> => {
  let answer: Parameters<MongodbDouble["answerWith"]>[0] = agreeing;
  const sockets = new Set<Socket>();

  const hear = (socket: Socket, received: Buffer): void => {
    const [id, operation] = [received.readInt32LE(4), received.readInt32LE(12)];
    if (operation !== OP_MSG && operation !== OP_QUERY) throw new Error(`an operation ${operation}`);
    const command = commandOf(operation, received.subarray(HEADER_BYTES));
    const [name = ""] = Object.keys(command);
    const said = GREETINGS.has(name) ? greeting() : answer(command);
    if (said === "cut") socket.destroy();
    else if (said !== null) socket.write(reply(id, operation, said));
  };

  const server = createServer((socket) => {
    sockets.add(socket);
    let pending = Buffer.alloc(0);
    socket.on("error", () => undefined);
    socket.on("close", () => sockets.delete(socket));
    socket.on("data", (data) => {
      pending = Buffer.concat([pending, data]);
      while (pending.length >= HEADER_BYTES && pending.length >= pending.readInt32LE(0)) {
        const size = pending.readInt32LE(0);
        hear(socket, pending.subarray(0, size));
        pending = pending.subarray(size);
      }
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    // It listens on a port, so its address is one.
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    answerWith(next) {
      answer = next;
    },
    async stop() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
};
