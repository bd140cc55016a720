import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A way to a MongoDB that counts the commands which pass. */
export type CountedMongodb = {
  readonly url: string;
  /** Commands, without the driver's own greetings and pings. */
  commands(): number;
  /** Commands that were sent while no other was unanswered: so many round trips the others at least waited for. */
  turns(): number;
  stop(): Promise<void>;
};

// MongoDB Wire Protocol, "OP_MSG": a header of 16 bytes, 4 of flags, 1 for the kind of section, and the command, whose
// first member, after 4 bytes of length and 1 of its type, is its name.
const OP_MSG = 2013;
const HEADER_BYTES = 16;
const NAME_AT = HEADER_BYTES + 4 + 1 + 4 + 1;
const DRIVERS_OWN: ReadonlySet<string> = new Set(["hello", "ismaster", "isMaster", "ping", "endSessions"]);

const nameIn = (message: Buffer): string => message.toString("latin1", NAME_AT, message.indexOf(0, NAME_AT));

const onMessages = (socket: Socket, hear: (message: Buffer) => void): void => {
  let pending = Buffer.alloc(0);
  socket.on("data", (data) => {
    pending = Buffer.concat([pending, data]);
    while (pending.length >= HEADER_BYTES && pending.length >= pending.readInt32LE(0)) {
      const size = pending.readInt32LE(0);
      hear(pending.subarray(0, size));
      pending = pending.subarray(size);
    }
  });
};

export const countedMongodb = async (serverUrl: string): Promise<CountedMongodb> => {
  const { port, hostname } = new URL(serverUrl);
  const sockets = new Set<Socket>();
  const unanswered = new Set<string>();
  let connections = 0;
  let commands = 0;
  let turns = 0;

  const server = createServer((client) => {
    const behind = connect(Number(port), hostname);
    connections += 1;
    const connection = connections;
    for (const [socket, other] of [
      [client, behind],
      [behind, client],
    ] as const) {
      sockets.add(socket);
      socket.on("error", () => undefined);
      socket.on("close", () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
    onMessages(client, (message) => {
      if (message.readInt32LE(12) !== OP_MSG || DRIVERS_OWN.has(nameIn(message))) return;
      commands += 1;
      if (unanswered.size === 0) turns += 1;
      unanswered.add(`${connection}/${message.readInt32LE(4)}`);
    });
    onMessages(behind, (message) => void unanswered.delete(`${connection}/${message.readInt32LE(8)}`));
    client.pipe(behind).pipe(client);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = new URL(serverUrl);
  // It listens on a port, so its address is one.
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  url.searchParams.set("directConnection", "true");
  return {
    url: url.href,
    commands: () => commands,
    turns: () => turns,
    async stop() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
};
