import type { Dispatcher } from "undici";
import type { Failure, FailureKind, Timings } from "../../domain/delivery/events.ts";
import type { Clock } from "../../domain/ports/clock.ts";
import type { HttpRequest, HttpSender, SendOutcome } from "../../domain/ports/sender.ts";
import { type Target, targetOf } from "./addresses.ts";
import { type Connection, connections } from "./connections.ts";
import { ConnectFailure, type ConnectorOptions, connector } from "./connector.ts";
import { failure, failureOfError } from "./failures.ts";
import { retryAfterMs } from "./retry-after.ts";
import { type Phase, type Stopwatch, stopwatch } from "./stopwatch.ts";

export type HttpSenderOptions = ConnectorOptions & { readonly clock: Clock };

/** What is kept of an answer's body: enough to see what went wrong. */
export const BODY_KEPT_MAX = 64 * 1_024;
/** No receiver needs more; ten thousand tiny headers pass any limit on bytes. */
const RESPONSE_HEADERS_MAX = 256;
/** Looks for the end of what is under way while closing. */
const CLOSE_POLL_MS = 10;

const DURING: Readonly<Record<Phase, string>> = {
  dns: "resolving the name",
  connect: "connecting",
  tls: "the TLS handshake",
  answer: "waiting for the answer",
  body: "reading the answer",
};

/** Nothing is written before there is a connection. */
const BEFORE_REQUEST: ReadonlySet<Phase> = new Set(["dns", "connect", "tls"]);
/** Of a time that is up, and of an attempt that is given up, the kind does not say how far it had come. */
const UNSENT_IF_ENDED: ReadonlySet<FailureKind> = new Set(["timeout", "reset"]);

const RESENT = "sent once before, on a kept-alive connection that ended without an answer";

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

const joined = (headers: Headers): Record<string, string> => {
  const kept: [string, string][] = [];
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) kept.push([name, typeof value === "string" ? value : value.join(", ")]);
  }
  // `fromEntries` makes even `__proto__` an ordinary property.
  return Object.fromEntries(kept);
};

const countOf = (headers: Headers): number => {
  let count = 0;
  for (const name in headers) count += Array.isArray(headers[name]) ? headers[name].length : 1;
  return count;
};

/** Collects an answer and says what it comes to: the status decides, the body only adds. */
const answerOf = (clock: Clock) => {
  let statusCode = 0;
  let headers: Readonly<Record<string, string>> = {};
  let size = 0;
  const chunks: Buffer[] = [];

  return {
    /** A failure that the status and the headers alone decide. */
    start(status: number, raw: Headers): Failure | null {
      statusCode = status;
      const count = countOf(raw);
      if (count > RESPONSE_HEADERS_MAX) return failure("response-too-large", `the answer has ${count} headers`);
      headers = joined(raw);
      // Other informational answers never come this far (`interim-answers.ts`).
      if (status < 200) return failure("invalid-response", `the answer ${status} was not asked for`);
      if (status > 599) return failure("invalid-response", `the status ${status} does not exist`);
      return null;
    },
    /** False when there is more than is kept. */
    add(chunk: Buffer): boolean {
      const rest = BODY_KEPT_MAX - size;
      // A copy: the chunk is a window on a far larger buffer of the socket.
      if (rest > 0) chunks.push(Buffer.from(chunk.subarray(0, rest)));
      size += Math.min(chunk.length, rest);
      return chunk.length <= rest;
    },
    status: () => statusCode,
    answered: (truncated: boolean, timings: Timings): SendOutcome => ({
      outcome: "answered",
      statusCode,
      headers,
      body: Buffer.concat(chunks),
      truncated,
      retryAfterMs: headers["retry-after"] === undefined ? null : retryAfterMs(headers["retry-after"], clock.now()),
      timings,
    }),
  };
};

/**
 * Sends over HTTP/1.1 with kept-alive connections, one request at a time on each. Addresses are vetted at every connect,
 * redirects are not followed, nothing is inflated, and one limit covers everything from the name to the last byte read.
 * How many requests are under way at once is the caller's to bound.
 */
export const httpSender = ({ clock, ...options }: HttpSenderOptions): HttpSender => {
  const pool = connections(connector(options));
  /** Ends each request under way. */
  const underWay = new Set<() => void>();
  let closed = false;

  const exchange = (
    request: HttpRequest,
    target: Target,
    watch: Stopwatch,
    resolve: (sent: SendOutcome) => void,
  ): void => {
    const begun = { atMs: clock.now(), steadyMs: performance.now() };
    const { account = "" } = request;
    let connection: Connection = pool.take(target, account, watch);
    const answer = answerOf(clock);
    let answering = false;
    let settled = false;
    let resent = false;

    const settle = (sent: SendOutcome, reusable: boolean): void => {
      if (settled) return;
      settled = true;
      clearTimeout(timer);
      request.signal?.removeEventListener("abort", giveUp);
      underWay.delete(giveUp);
      if (reusable && !closed) pool.give(connection);
      else pool.drop(connection);
      resolve(resent ? { ...sent, resent } : sent);
    };
    const isBeforeRequest = (): boolean => BEFORE_REQUEST.has(watch.phase());
    const fail = (it: Failure, isUnsent = isBeforeRequest(), cause?: Error): void => {
      const status = answer.status() === 0 ? {} : { statusCode: answer.status() };
      const unsent = UNSENT_IF_ENDED.has(it.kind) && isUnsent ? ({ unsent: true } as const) : {};
      // A time that is up while a name is being resolved is our resolver's as well.
      const isResolvers =
        cause instanceof ConnectFailure
          ? cause.isResolvers
          : UNSENT_IF_ENDED.has(it.kind) && !resent && watch.phase() === "dns";
      const ours = isResolvers ? ({ resolverFailed: true } as const) : {};
      settle({ outcome: "failed", ...it, ...status, ...unsent, ...ours, timings: watch.timings() }, false);
    };
    /** Whatever ends an exchange after the status has come is no failure. */
    const end = (it: () => Failure, cause?: Error): void =>
      answering ? settle(answer.answered(true, watch.timings()), false) : fail(it(), isBeforeRequest(), cause);

    const giveUp = (): void => end(() => failure("reset", "given up on our side; whether it had an effect is unknown"));
    const timer = setTimeout(
      () => end(() => failure("timeout", `no answer within ${request.timeoutMs} ms (${DURING[watch.phase()]})`)),
      request.timeoutMs,
    );
    underWay.add(giveUp);
    request.signal?.addEventListener("abort", giveUp, { once: true });
    if (request.signal?.aborted === true) {
      giveUp();
      return;
    }

    const handler: Dispatcher.DispatchHandler = {
      // Called before the first byte is written. A process that was suspended hears of its connection before its timer, and
      // timers stand still while the machine is suspended: others may have gone on without this request by now.
      onRequestStart(controller) {
        const passedMs = Math.max(clock.now() - begun.atMs, performance.now() - begun.steadyMs);
        if (settled || passedMs < request.timeoutMs) return;
        fail(failure("timeout", `not connected within ${request.timeoutMs} ms: nothing was sent`), !resent);
        controller.abort(new Error("too late"));
      },
      onResponseStart(_controller, statusCode, headers) {
        watch.enter("body");
        const failed = answer.start(statusCode, headers);
        if (failed !== null) return fail(failed);
        answering = true;
      },
      onResponseData(_controller, chunk) {
        if (!settled && !answer.add(chunk)) settle(answer.answered(true, watch.timings()), false);
      },
      onResponseEnd: () => settle(answer.answered(false, watch.timings()), true),
      onResponseError(_controller, error) {
        const failed = failureOfError(error);
        // The receiver closed an idle connection just as this request went out. As Go's client does for a request with
        // an Idempotency-Key, it is sent once more on a new one: `webhook-id` is what tells the receiver.
        const isUnanswered = !answering && !connection.interim.hasAnswerBegun();
        if (!settled && isUnanswered && failed.kind === "reset" && connection.reused) {
          resent = true;
          pool.distrust(connection);
          connection = pool.open(target, account, watch);
          dispatch();
        } else end(() => (resent ? failure(failed.kind, `${failed.detail}; ${RESENT}`) : failed), error);
      },
    };
    const dispatch = (): void => {
      const { headers, body } = request;
      connection.client.dispatch({ path: target.path, method: "POST", headers, body }, handler);
    };
    dispatch();
  };

  return {
    send: (request) =>
      new Promise((resolve) => {
        const watch = stopwatch();
        const fail = (it: Failure): void => resolve({ outcome: "failed", ...it, timings: watch.timings() });
        if (closed) return fail(failure("connect", "nothing more is sent: the process is stopping"));
        const parsed = targetOf(request.url);
        if (!parsed.ok) return fail(failure("blocked-address", `${parsed.host} is refused: ${parsed.rule}`));
        exchange(request, parsed.target, watch, resolve);
      }),
    async close(limitMs) {
      closed = true;
      pool.close();
      const until = performance.now() + limitMs;
      while (underWay.size > 0 && performance.now() < until) {
        await new Promise((resolve) => setTimeout(resolve, CLOSE_POLL_MS));
      }
      for (const giveUp of [...underWay]) giveUp();
    },
  };
};
