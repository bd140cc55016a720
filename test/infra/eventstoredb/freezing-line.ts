import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A line to a server that can fall silent without breaking, as half-open connections and stopped processes do. */
export type FreezingLine = {
  readonly port: number;
  /** What is connected hears and says nothing more, and does not learn it; new connections too, if they are meant. */
  freeze(what: "what is open" | "everything"): void;
  thaw(): void;
  close(): Promise<void>;
};

export const freezingLine = async (to: number): Promise<FreezingLine> => {
  const sockets = new Set<Socket>();
  let isFrozen = false;

  const server = createServer((near) => {
    const far = connect(to, "127.0.0.1");
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on("data", (data) => other.write(data));
      socket.on("error", () => socket.destroy());
      socket.on("close", () => {
        sockets.delete(socket);
        other.destroy();
      });
      if (isFrozen) socket.pause();
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");

  return {
    // A TCP server that listens has an address with a port.
    port: (server.address() as AddressInfo).port,
    freeze(what) {
      isFrozen = what === "everything";
      for (const socket of sockets) socket.pause();
    },
    thaw() {
      isFrozen = false;
      for (const socket of sockets) socket.resume();
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
};
