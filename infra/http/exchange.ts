import type { Dispatcher } from "undici";
import type { Failure, FailureKind, Timings } from "../../domain/delivery/attempt-end.ts";
import type { Clock } from "../../domain/ports/clock.ts";
import type { HttpRequest, SendOutcome } from "../../domain/ports/sender.ts";
import type { Target } from "./addresses.ts";
import type { Connection, Connections } from "./connections.ts";
import { ConnectFailure } from "./connector.ts";
import { failure, failureOfError } from "./failures.ts";
import { retryAfterMs } from "./retry-after.ts";
import type { Phase, Stopwatch } from "./stopwatch.ts";

export const BODY_KEPT_MAX = 64 * 1_024;
/** The number of headers is limited too, because ten thousand tiny ones would pass any limit on bytes. */
const RESPONSE_HEADERS_MAX = 256;

const DURING: Readonly<Record<Phase, string>> = {
  dns: "resolving the name",
  connect: "connecting",
  tls: "the TLS handshake",
  answer: "waiting for the answer",
  body: "reading the answer",
};

const BEFORE_REQUEST: ReadonlySet<Phase> = new Set(["dns", "connect", "tls"]);
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

class Answer {
  #statusCode: number | undefined;
  #headers: Readonly<Record<string, string>> = {};
  #size = 0;
  readonly #chunks: Buffer[] = [];

  get statusCode(): number | undefined {
    return this.#statusCode;
  }

  start(status: number, headers: Headers): Failure | null {
    this.#statusCode = status;
    const count = countOf(headers);
    if (count > RESPONSE_HEADERS_MAX) return failure("response-too-large", `the answer has ${count} headers`);
    this.#headers = joined(headers);
    // `interim-answers.ts` has removed every informational answer but 101, for which no request asks.
    if (status < 200) return failure("invalid-response", `the answer ${status} was not asked for`);
    if (status > 599) return failure("invalid-response", `the status ${status} does not exist`);
    return null;
  }

  add(chunk: Buffer): boolean {
    const rest = BODY_KEPT_MAX - this.#size;
    // The chunk is a window on a far larger buffer, which would stay in memory if the chunk were not copied.
    if (rest > 0) this.#chunks.push(Buffer.from(chunk.subarray(0, rest)));
    this.#size += Math.min(chunk.length, rest);
    return chunk.length <= rest;
  }

  sent(truncated: boolean, timings: Timings, nowMs: number): SendOutcome {
    return {
      outcome: "answered",
      statusCode: this.#statusCode ?? 0,
      headers: this.#headers,
      body: Buffer.concat(this.#chunks),
      truncated,
      retryAfterMs: retryAfterMs(this.#headers["retry-after"], nowMs),
      timings,
    };
  }
}

type ExchangeOptions = {
  readonly request: HttpRequest;
  readonly target: Target;
  readonly pool: Connections;
  readonly stopwatch: Stopwatch;
  readonly clock: Clock;
  readonly onEnd: (sent: SendOutcome) => void;
};

export class Exchange {
  readonly #options: ExchangeOptions;
  readonly #begun: { readonly atMs: number; readonly steadyMs: number };
  readonly #answer = new Answer();
  #connection: Connection;
  #timer: NodeJS.Timeout | undefined;
  #isAnswering = false;
  #isSettled = false;
  #isResent = false;

  constructor(options: ExchangeOptions) {
    const { request, target, pool, stopwatch, clock } = options;
    this.#options = options;
    this.#begun = { atMs: clock.now(), steadyMs: performance.now() };
    this.#connection = pool.take(target, request.account ?? "", stopwatch);
  }

  start(): void {
    const { signal, timeoutMs } = this.#options.request;
    this.#timer = setTimeout(() => this.#end(() => this.#timeout()), timeoutMs);
    signal?.addEventListener("abort", this.giveUp, { once: true });
    if (signal?.aborted === true) this.giveUp();
    else this.#dispatch();
  }

  readonly giveUp = (): void =>
    this.#end(() => failure("reset", "given up on our side; whether it had an effect is unknown"));

  #dispatch(): void {
    const { request, target } = this.#options;
    const { headers, body } = request;
    this.#connection.client.dispatch({ path: target.path, method: "POST", headers, body }, this.#handler());
  }

  #handler(): Dispatcher.DispatchHandler {
    const { stopwatch } = this.#options;
    return {
      onRequestStart: (controller) => this.#refuseLate(controller),
      onResponseStart: (_controller, statusCode, headers) => {
        stopwatch.enter("body");
        const failed = this.#answer.start(statusCode, headers);
        if (failed !== null) return this.#fail(failed);
        this.#isAnswering = true;
      },
      onResponseData: (_controller, chunk) => {
        if (!this.#isSettled && !this.#answer.add(chunk)) this.#succeed(true, false);
      },
      onResponseEnd: () => this.#succeed(false, true),
      onResponseError: (_controller, error) => this.#onError(error),
    };
  }

  /**
   * Refuses to send after `timeoutMs`: timers stop while the machine is suspended, and other nodes may have gone on.
   */
  #refuseLate(controller: Dispatcher.DispatchController): void {
    const { request, clock } = this.#options;
    const passedMs = Math.max(clock.now() - this.#begun.atMs, performance.now() - this.#begun.steadyMs);
    if (this.#isSettled || passedMs < request.timeoutMs) return;
    const detail = `not connected within ${request.timeoutMs} ms: nothing was sent`;
    this.#fail(failure("timeout", detail), { isUnsent: !this.#isResent });
    controller.abort(new Error("too late"));
  }

  #onError(error: Error): void {
    const { pool, target, request, stopwatch } = this.#options;
    const failed = failureOfError(error);
    const isUnanswered = !this.#isAnswering && !this.#connection.interim.hasAnswerBegun();
    if (this.#isSettled || !isUnanswered || failed.kind !== "reset" || !this.#connection.reused) {
      const detail = `${failed.detail}; ${RESENT}`;
      this.#end(() => (this.#isResent ? failure(failed.kind, detail) : failed), error);
      return;
    }
    // The receiver closed the idle connection just as the request was sent, so it is sent once more. If the receiver
    // did read it, it recognises the repeat by `webhook-id`.
    this.#isResent = true;
    pool.distrust(this.#connection);
    this.#connection = pool.open(target, request.account ?? "", stopwatch);
    this.#dispatch();
  }

  #end(reason: () => Failure, cause?: Error): void {
    if (this.#isAnswering) this.#succeed(true, false);
    else this.#fail(reason(), { cause });
  }

  #timeout(): Failure {
    const { request, stopwatch } = this.#options;
    return failure("timeout", `no answer within ${request.timeoutMs} ms (${DURING[stopwatch.phase()]})`);
  }

  #succeed(truncated: boolean, isReusable: boolean): void {
    const { stopwatch, clock } = this.#options;
    this.#settle(this.#answer.sent(truncated, stopwatch.timings(), clock.now()), isReusable);
  }

  #fail(it: Failure, about: { readonly isUnsent?: boolean; readonly cause?: Error | undefined } = {}): void {
    const { stopwatch } = this.#options;
    const phase = stopwatch.phase();
    const isUnsent = about.isUnsent ?? BEFORE_REQUEST.has(phase);
    // A timeout during the look-up of a name is a failure of our resolver as well.
    const isResolvers =
      about.cause instanceof ConnectFailure
        ? about.cause.isResolvers
        : UNSENT_IF_ENDED.has(it.kind) && !this.#isResent && phase === "dns";
    const { statusCode } = this.#answer;
    const sent: SendOutcome = {
      ...{ outcome: "failed", kind: it.kind, detail: it.detail, timings: stopwatch.timings() },
      ...(statusCode === undefined ? {} : { statusCode }),
      ...(UNSENT_IF_ENDED.has(it.kind) && isUnsent ? { unsent: true } : {}),
      ...(isResolvers ? { resolverFailed: true } : {}),
    };
    this.#settle(sent, false);
  }

  #settle(sent: SendOutcome, isReusable: boolean): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    const { request, pool, onEnd } = this.#options;
    clearTimeout(this.#timer);
    request.signal?.removeEventListener("abort", this.giveUp);
    if (isReusable) pool.give(this.#connection);
    else pool.drop(this.#connection);
    onEnd(this.#isResent ? { ...sent, resent: true } : sent);
  }
}
