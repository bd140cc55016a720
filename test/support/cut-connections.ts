import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** Passes on what is said to a server and by it, until the connections are cut; new ones are taken at once. */
export type CutConnections = {
  readonly port: number;
  /** Whatever is on its way, in either direction, is lost. */
  cut(): void;
  stop(): Promise<void>;
};

export const cutConnections = async (host: string, port: number): Promise<CutConnections> => {
  const sockets = new Set<Socket>();
  const kept = (socket: Socket, other: Socket): void => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.on("close", () => {
      sockets.delete(socket);
      other.destroy();
    });
  };
  const server = createServer((client) => {
    const behind = connect(port, host);
    kept(client, behind);
    kept(behind, client);
    client.pipe(behind).pipe(client);
  });
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    // It listens on a port, so its address is one.
    port: (server.address() as AddressInfo).port,
    cut,
    async stop() {
      cut();
      server.close();
      await once(server, "close");
    },
  };
};
