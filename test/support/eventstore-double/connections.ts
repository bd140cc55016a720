import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";

/** The port of the double and the connections that clients have opened to it. */
export type Connections = {
  /** 0 takes a free port. Resolves to the port. */
  listen(port: number): Promise<number>;
  /** Cuts everything and refuses what comes. */
  close(): Promise<void>;
  /** Cuts one connection, named as gRPC names a peer (`address:port`), or all of them. */
  cut(peer?: string): void;
  /** How many are open. */
  open(): number;
};

/** Hands each connection on to `accept`, which speaks HTTP/2 on it. */
export const connections = (accept: (socket: Socket) => void): Connections => {
  const sockets = new Map<string, Socket>();
  const server = createServer((socket) => {
    const peer = `${socket.remoteAddress}:${socket.remotePort}`;
    sockets.set(peer, socket);
    socket.setNoDelay(true);
    socket.on("close", () => sockets.delete(peer));
    socket.on("error", () => socket.destroy());
    accept(socket);
  });

  const cut = (peer?: string): void => {
    if (peer === undefined) for (const socket of sockets.values()) socket.destroy();
    else sockets.get(peer)?.destroy();
  };

  return {
    async listen(port) {
      server.listen(port, "127.0.0.1");
      await once(server, "listening");
      // A TCP server that listens has an address with a port.
      return (server.address() as AddressInfo).port;
    },
    async close() {
      cut();
      if (!server.listening) return;
      server.close();
      await once(server, "close");
    },
    cut,
    open: () => sockets.size,
  };
};
