import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export type Arrival = {
  readonly id: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly at: number;
};

export type Receiver = {
  readonly url: string;
  readonly arrivals: Arrival[];
  /** How often each webhook-id has arrived. */
  counts(): Map<string, number>;
  /** What is answered from now on; 200 with `{"ok":true}` unless told otherwise. */
  answer(with_: (arrival: Arrival, response: ServerResponse) => void): void;
  close(): Promise<void>;
};

/** An application that webhooks are delivered to, on this machine. */
export const receiver = async (): Promise<Receiver> => {
  const arrivals: Arrival[] = [];
  const ok = (_arrival: Arrival, response: ServerResponse): void => {
    response.setHeader("content-type", "application/json").end('{"ok":true}');
  };
  let respond: (arrival: Arrival, response: ServerResponse) => void = ok;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const arrival = {
        id: String(request.headers["webhook-id"]),
        headers: request.headers,
        body: Buffer.concat(chunks).toString("utf8"),
        at: Date.now(),
      };
      arrivals.push(arrival);
      respond(arrival, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // A failed test may not come to close it.
  server.unref();
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/hook`,
    arrivals,
    counts() {
      const counts = new Map<string, number>();
      for (const { id } of arrivals) counts.set(id, (counts.get(id) ?? 0) + 1);
      return counts;
    },
    answer(with_) {
      respond = with_;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};
