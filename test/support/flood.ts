import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { connect, type Socket } from "node:net";
import { HOOK_SECRET } from "./client.ts";

export type Flooded = {
  readonly id: string;
  /** 0: the connection ended without an answer, by `error`. */
  readonly status: number;
  readonly error?: string;
  readonly retryAfter: string | undefined;
  readonly eventId: string;
};

/** Connections that are opened but have not sent all of theirs: with more, this process would be the slow one. */
const SENDING_MAX = 200;

type Signed = { readonly bytes: Buffer; readonly signature: string };

const signedBody = (body: string | Buffer): Signed => {
  const bytes = Buffer.from(body);
  return { bytes, signature: createHmac("sha256", HOOK_SECRET).update(bytes).digest("hex") };
};

/** Signs a body that several webhooks have in a row once: of large bodies that would be most of a sender's work. */
const signedOnce = (): ((body: string | Buffer) => Signed) => {
  let last: { readonly body: string | Buffer; readonly signed: Signed } | null = null;
  return (body) => {
    if (last?.body !== body) last = { body, signed: signedBody(body) };
    return last.signed;
  };
};

const headersOf = (bytes: Buffer, signature: string): Readonly<Record<string, string | number>> => ({
  "content-type": "application/json",
  "content-length": bytes.length,
  "x-signature": signature,
});

/** Sends webhooks all at once, each on a connection of its own, as many senders behind no proxy do. */
export const flood = async (
  url: string,
  bodies: readonly (readonly [id: string, body: string | Buffer])[],
): Promise<Flooded[]> => {
  const agent = new Agent({ keepAlive: false, maxSockets: Number.POSITIVE_INFINITY });
  const toBytes = signedOnce();
  const one = (id: string, body: string | Buffer, sent: () => void): Promise<Flooded> =>
    new Promise((resolve) => {
      const { bytes, signature } = toBytes(body);
      const headers = { ...headersOf(bytes, signature), "x-delivery-id": id };
      const gone = (error: Error = new Error("closed")): void =>
        resolve({ id, status: 0, error: error.message, retryAfter: undefined, eventId: "" });
      const sending = request(url, { method: "POST", agent, headers }, (response) => {
        let text = "";
        response.setEncoding("utf8");
        response.on("data", (chunk: string) => (text += chunk));
        response.on("error", gone);
        response.on("close", () => gone());
        response.on("end", () => {
          const [, eventId = ""] = /"event_id":"(evt_[a-z2-7]+)"/.exec(text) ?? [];
          resolve({ id, status: response.statusCode ?? 0, retryAfter: response.headers["retry-after"], eventId });
        });
      });
      sending.on("error", gone).on("finish", sent).on("close", sent);
      sending.end(bytes);
    });
  const answers: Promise<Flooded>[] = [];
  const left = [...bodies];
  const lane = async (): Promise<void> => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      const [id, body] = next;
      await new Promise<void>((sent) => answers.push(one(id, body, sent)));
    }
  };
  await Promise.all(Array.from({ length: SENDING_MAX }, lane));
  return Promise.all(answers);
};

/**
 * Sends webhooks over a few connections that stay open, one at a time on each, and answers the statuses. `fetch` takes
 * several times the processor time for it.
 */
export const sendOver = async (
  connections: number,
  url: string,
  bodies: readonly (readonly [id: string, body: string])[],
): Promise<number[]> => {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const one = ([id, body]: readonly [string, string]): Promise<number> =>
    new Promise((resolve, reject) => {
      const { bytes, signature } = signedBody(body);
      const headers = { ...headersOf(bytes, signature), "x-delivery-id": id };
      const sending = request(url, { method: "POST", agent, headers }, (response) => {
        response.on("end", () => resolve(response.statusCode ?? 0)).on("error", reject);
        response.resume();
      });
      sending.on("error", reject).end(bytes);
    });
  const left = bodies.values();
  const statuses: number[] = [];
  const lane = async (): Promise<void> => {
    for (const next of left) statuses.push(await one(next));
  };
  try {
    await Promise.all(Array.from({ length: connections }, lane));
  } finally {
    agent.destroy();
  }
  return statuses;
};

/** Clients that announce a body of one of the lengths, in turn, send a little of it and then nothing more. `close` hangs up. */
export const slowClients = async (
  url: string,
  count: number,
  announcedBytes: readonly number[],
): Promise<{ readonly sockets: readonly Socket[]; close(): void }> => {
  const { hostname, port, pathname, host } = new URL(url);
  const head = (length: number | undefined): string =>
    [`POST ${pathname} HTTP/1.1`, `host: ${host}`, `content-length: ${length}`, "", '{"a'].join("\r\n");
  const sockets = await Promise.all(
    Array.from(
      { length: count },
      (_, index) =>
        new Promise<Socket>((resolve, reject) => {
          const socket = connect(Number(port), hostname);
          socket.on("error", reject);
          // Nothing is expected, but an answer that is not read would keep its connection.
          socket.resume();
          socket.write(head(announcedBytes[index % announcedBytes.length]), () => resolve(socket));
        }),
    ),
  );
  return {
    sockets,
    close() {
      for (const socket of sockets) socket.destroy();
    },
  };
};

/** The most memory a process ever had resident, in MiB; null where the system does not say. */
export const peakMemoryMib = (pid: number): number | null => {
  try {
    const [, kib] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
    return kib === undefined ? null : Number(kib) / 1_024;
  } catch {
    return null;
  }
};
