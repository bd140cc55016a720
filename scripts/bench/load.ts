import { connect, type Socket } from "node:net";
import { answerParent } from "./child.ts";
import { monotonicMs, sleep } from "./clock.ts";
import { httpMessages } from "./http-messages.ts";
import { signedRequests } from "./payment-event.ts";

export type LoadOrder = {
  readonly url: string;
  readonly secret: string;
  /** A number below 10^10 that distinguishes the events of one load from those of others. */
  readonly run: number;
  readonly connections: number;
  readonly seconds: number;
  /** Requests a second (an open loop), or null to send the next request after an answer (a closed loop). */
  readonly rate: number | null;
  /** Only in a closed loop: the number of requests to send until a `LoadCredit` allows more. */
  readonly credit?: number;
};

export type LoadCredit = { readonly credit: number };

/** Times are in ms of `monotonicMs` and stand at the event's number; NaN if there is none. */
export type LoadOutcome = {
  readonly sent: number;
  readonly accepted: number;
  readonly refused: Readonly<Record<string, number>>;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly sentAt: Float64Array;
  readonly answeredAt: Float64Array;
  /** Only in an open loop: the number of requests sent more than 5 ms late, because of the generator or the machine. */
  readonly late: number;
  /** The generator's share of one core. If it is near 1, the generator itself was measured. */
  readonly cpuShare: number;
};

type Connection = { readonly socket: Socket; n: number };

/** Requests that are sent this late (ms) measure the scheduler rather than the service. */
const LATE_MS = 5;
/** Requests without an answer this long (ms) after the load's end are given up. */
const ANSWER_MS = 30_000;
const TICK_MS = 1;
const STATUS_AT = "HTTP/1.1 ".length;
const NUMBERS_GROW = 65_536;

const grown = (array: Float64Array, index: number): Float64Array => {
  if (index < array.length) return array;
  const larger = new Float64Array(array.length + NUMBERS_GROW).fill(Number.NaN);
  larger.set(array);
  return larger;
};

const load = () => {
  let allowed = Number.POSITIVE_INFINITY;
  let pump = (): void => undefined;

  const connectAll = async (
    { url, connections }: LoadOrder,
    answered: (at: Connection, status: string) => void,
  ): Promise<Connection[]> => {
    const { hostname, port } = new URL(url);
    return Promise.all(
      Array.from({ length: connections }, async () => {
        const socket = connect({ host: hostname, port: Number(port), noDelay: true });
        const connection = { socket, n: -1 };
        socket.on(
          "data",
          httpMessages(monotonicMs, ({ head }) => answered(connection, head.slice(STATUS_AT, STATUS_AT + 3))),
        );
        await new Promise((resolve, reject) => socket.once("connect", resolve).once("error", reject));
        let cause = "closed";
        socket.on("error", ({ message }) => {
          cause = message;
        });
        socket.on("close", () => answered(connection, cause));
        return connection;
      }),
    );
  };

  const run = async (order: LoadOrder): Promise<LoadOutcome> => {
    const { rate, seconds } = order;
    const request = signedRequests(order.url, order.secret, order.run);
    const refused: Record<string, number> = {};
    let sentAt: Float64Array = new Float64Array(0);
    let answeredAt: Float64Array = new Float64Array(0);
    let [sent, accepted, late, open, due] = [0, 0, 0, 0, 0];
    allowed = order.credit ?? Number.POSITIVE_INFINITY;

    const answered = (connection: Connection, status: string): void => {
      // An answer without a request: the service closes a connection that was idle for long.
      if (connection.n < 0) return;
      open -= 1;
      if (status === "202" || status === "200") {
        accepted += 1;
        answeredAt[connection.n] = monotonicMs();
      } else refused[status] = (refused[status] ?? 0) + 1;
      connection.n = -1;
      idle.push(connection);
      pump();
    };
    const idle = await connectAll(order, answered);
    const all = [...idle];

    const startedAt = monotonicMs();
    const endsAt = startedAt + seconds * 1_000;
    const cpu = process.cpuUsage();
    const mayStart = rate === null ? () => sent < allowed && monotonicMs() < endsAt : () => sent < due;
    /** Notes when a request is due: one without a free connection waits, and its time counts from then. */
    const begin = (n: number): void => {
      sentAt = grown(sentAt, n);
      answeredAt = grown(answeredAt, n);
      sentAt[n] = monotonicMs();
    };
    pump = () => {
      while (idle.length > 0 && mayStart()) {
        // The connection that has been idle longest is taken, so that none is closed for being idle.
        const connection = idle.shift();
        if (connection === undefined) return;
        if (!connection.socket.writable) continue;
        connection.n = sent;
        if (rate === null) begin(sent);
        sent += 1;
        open += 1;
        connection.socket.write(request(connection.n));
      }
    };
    pump();
    while (monotonicMs() < endsAt) {
      await sleep(rate === null ? 20 : TICK_MS);
      if (rate === null) continue;
      const now = monotonicMs();
      const dueNow = Math.floor(((Math.min(now, endsAt) - startedAt) / 1_000) * rate);
      for (; due < dueNow; due += 1) {
        begin(due);
        if (now - (startedAt + (due / rate) * 1_000) > LATE_MS) late += 1;
      }
      pump();
    }
    for (const limit = endsAt + ANSWER_MS; (open > 0 || mayStart()) && monotonicMs() < limit; ) await sleep(1);
    const endedAt = rate === null ? endsAt : monotonicMs();
    const { user, system } = process.cpuUsage(cpu);
    for (const { socket } of all) socket.destroy();
    return {
      sent,
      accepted,
      refused,
      startedAt,
      endedAt,
      sentAt: sentAt.slice(0, sent),
      answeredAt: answeredAt.slice(0, sent),
      late,
      cpuShare: (user + system) / 1_000 / (monotonicMs() - startedAt),
    };
  };

  return {
    run,
    allow({ credit }: LoadCredit): void {
      allowed = credit;
      pump();
    },
  };
};

const generator = load();
answerParent<LoadOrder | LoadCredit, LoadOutcome | null>(async (question) => {
  if ("url" in question) return generator.run(question);
  generator.allow(question);
  return null;
});
