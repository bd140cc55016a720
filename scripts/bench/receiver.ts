import type { AddressInfo } from "node:net";
import { createServer, type Socket } from "node:net";
import { answerParent } from "./child.ts";
import { monotonicMs } from "./clock.ts";
import { httpMessages } from "./http-messages.ts";
import { readPaymentEvent } from "./payment-event.ts";

export type ReceiverQuestion =
  | { readonly kind: "listen" }
  /** From now on only events of this run are counted, and each is answered after `delayMs`. */
  | { readonly kind: "begin"; readonly run: number; readonly delayMs: number }
  | { readonly kind: "count" }
  | { readonly kind: "arrivals" };

export type ReceiverAnswer = {
  readonly port: number;
  readonly unique: number;
  readonly repeated: number;
  /** When each event's first byte first came, by its number; NaN: not yet. Only in the answer to "arrivals". */
  readonly arrivals: Float64Array;
  readonly cpuShare: number;
};

const NUMBERS_GROW = 65_536;
const OK = Buffer.from(
  'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 11\r\nconnection: keep-alive\r\n\r\n{"ok":true}',
);

let run = -1;
let delayMs = 0;
let unique = 0;
let repeated = 0;
let arrivals = new Float64Array(0);
let cpu = process.cpuUsage();
let begunAt = monotonicMs();

const note = (body: Buffer, at: number): void => {
  const event = readPaymentEvent(body);
  if (event.run !== run) return;
  if (event.n >= arrivals.length) {
    const larger = new Float64Array(event.n + NUMBERS_GROW).fill(Number.NaN);
    larger.set(arrivals);
    arrivals = larger;
  }
  if (Number.isNaN(arrivals[event.n])) {
    arrivals[event.n] = at;
    unique += 1;
  } else repeated += 1;
};

const server = createServer({ noDelay: true }, (socket: Socket) => {
  const answer = (): void => {
    if (socket.writable) socket.write(OK);
  };
  socket.on(
    "data",
    httpMessages(monotonicMs, ({ body, firstByteAt }) => {
      note(body, firstByteAt);
      if (delayMs === 0) answer();
      else setTimeout(answer, delayMs);
    }),
  );
  socket.on("error", () => socket.destroy());
});

const listen = (): Promise<void> => new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));

answerParent<ReceiverQuestion, ReceiverAnswer>(async (question) => {
  if (question.kind === "listen") await listen();
  if (question.kind === "begin") {
    ({ run, delayMs } = question);
    [unique, repeated, arrivals] = [0, 0, new Float64Array(0)];
    [cpu, begunAt] = [process.cpuUsage(), monotonicMs()];
  }
  const { user, system } = process.cpuUsage(cpu);
  const { port } = server.address() as AddressInfo;
  return {
    port,
    unique,
    repeated,
    arrivals: question.kind === "arrivals" ? arrivals : new Float64Array(0),
    cpuShare: (user + system) / 1_000 / Math.max(1, monotonicMs() - begunAt),
  };
});
