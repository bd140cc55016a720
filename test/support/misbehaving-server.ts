import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { createServer as createTlsServer, type TlsOptions } from "node:tls";

type ReceivedRequest = {
  /** Request line and headers. */
  readonly head: string;
  readonly body: Buffer;
  /** 0-based: which connection of the server it came on. */
  readonly connection: number;
};

export type MisbehavingServer = {
  readonly port: number;
  readonly url: string;
  readonly requests: readonly ReceivedRequest[];
  readonly connections: () => number;
  /** Sockets that are open at the moment. */
  readonly open: () => number;
  close(): Promise<void>;
};

export type Behaviour = {
  /** Called for each whole request; what the socket does then is the test's business. */
  readonly onRequest?: (socket: Socket, request: ReceivedRequest) => void;
  readonly onConnection?: (socket: Socket) => void;
  readonly tls?: TlsOptions;
};

const HEAD_END = "\r\n\r\n";

/** Cuts requests with a content-length out of what arrives. */
const requestsOf = (socket: Socket, connection: number, take: (request: ReceivedRequest) => void): void => {
  let pending = Buffer.alloc(0);
  socket.on("data", (chunk: Buffer) => {
    pending = Buffer.concat([pending, chunk]);
    for (;;) {
      const end = pending.indexOf(HEAD_END);
      if (end < 0) return;
      const head = pending.subarray(0, end).toString("latin1");
      const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
      const from = end + HEAD_END.length;
      if (pending.length < from + length) return;
      take({ head, body: pending.subarray(from, from + length), connection });
      pending = pending.subarray(from + length);
    }
  });
};

/** A receiver on 127.0.0.1 made of a bare socket, so that it can answer in every wrong way. */
export const misbehavingServer = async ({ onRequest, onConnection, tls }: Behaviour): Promise<MisbehavingServer> => {
  const requests: ReceivedRequest[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;

  const accept = (socket: Socket): void => {
    const connection = connections;
    connections += 1;
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => socket.destroy());
    onConnection?.(socket);
    requestsOf(socket, connection, (request) => {
      requests.push(request);
      onRequest?.(socket, request);
    });
  };

  const server = tls === undefined ? createServer(accept) : createTlsServer(tls, accept);
  server.on("tlsClientError", () => {});
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  // A TCP server that listens has an address with a port.
  const { port } = server.address() as AddressInfo;

  return {
    port,
    url: `${tls === undefined ? "http" : "https"}://127.0.0.1:${port}/hook?a=1`,
    requests,
    connections: () => connections,
    open: () => sockets.size,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
};

/** An answer with a body and a right content-length. */
export const plainAnswer = (status: string, body = "", headers: readonly string[] = []): string =>
  [`HTTP/1.1 ${status}`, `content-length: ${Buffer.byteLength(body)}`, ...headers, "", body].join("\r\n");
