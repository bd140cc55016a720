import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { type Valve, valve } from "./valve.ts";

/** The port of the double and the connections that clients have opened to it. */
export type Connections = {
  /** 0 takes a free port. Resolves to the port. */
  listen(port: number): Promise<number>;
  /** Cuts everything and refuses what comes. */
  close(): Promise<void>;
  /** Cuts all at once. */
  cut(): void;
  /** Connections stay, and new ones are taken, but nothing is read from them and nothing written. */
  freeze(): void;
  thaw(): void;
  /** How many are open. */
  open(): number;
};

type Connection = { readonly socket: Socket; readonly valve: Valve };

/** Hands each connection on to `accept`, which speaks HTTP/2 on it and can cut it. Its stream closes with it. */
export const connections = (accept: (stream: Duplex, cut: () => void) => void): Connections => {
  const opened = new Set<Connection>();
  let frozen = false;

  const server = createServer((socket) => {
    const connection = { socket, valve: valve(socket, frozen) };
    opened.add(connection);
    socket.setNoDelay(true);
    socket.on("close", () => opened.delete(connection));
    accept(connection.valve.stream, () => socket.destroy());
  });

  const cut = (): void => {
    for (const { socket } of opened) socket.destroy();
  };

  return {
    async listen(port) {
      server.listen(port, "127.0.0.1");
      await once(server, "listening");
      // A TCP server that listens has an address with a port.
      return (server.address() as AddressInfo).port;
    },
    async close() {
      frozen = false;
      cut();
      if (!server.listening) return;
      server.close();
      await once(server, "close");
    },
    cut,
    freeze() {
      frozen = true;
      for (const connection of opened) connection.valve.freeze();
    },
    thaw() {
      frozen = false;
      for (const connection of opened) connection.valve.thaw();
    },
    open: () => opened.size,
  };
};
