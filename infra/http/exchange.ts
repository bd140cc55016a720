import type { Dispatcher } from "undici";
import type { Failure, FailureKind } from "../../domain/delivery/attempt-end.ts";
import type { Clock } from "../../domain/ports/clock.ts";
import type { HttpRequest, SendOutcome } from "../../domain/ports/sender.ts";
import type { Target } from "./addresses.ts";
import type { Connection, Connections } from "./connections.ts";
import { ConnectFailure } from "./connector.ts";
import type { Deadlines, Timed } from "./deadlines.ts";
import { failure, failureOfError } from "./failures.ts";
import { retryAfterMs } from "./retry-after.ts";
import { type Phase, Stopwatch } from "./stopwatch.ts";

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

const NO_BODY = Buffer.alloc(0);

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/** The headers with several values of one name joined, or the number of values if they are too many. */
const keptHeaders = (headers: Headers): Readonly<Record<string, string>> | number => {
  const kept: [string, string][] = [];
  let count = 0;
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined) continue;
    count += typeof value === "string" ? 1 : value.length;
    kept.push([name, typeof value === "string" ? value : value.join(", ")]);
  }
  // `fromEntries` makes even `__proto__` an ordinary property.
  return count > RESPONSE_HEADERS_MAX ? count : Object.fromEntries(kept);
};

type Shared = { readonly pool: Connections; readonly clock: Clock; readonly underWay: Deadlines };

/** One request, and the handler of its answer. */
export class Exchange implements Timed, Dispatcher.DispatchHandler {
  readonly limitMs: number;
  readonly dueAt: number;
  earlier: Timed | null = null;
  later: Timed | null = null;
  readonly #shared: Shared;
  readonly #request: HttpRequest;
  readonly #target: Target;
  readonly #resolve: (sent: SendOutcome) => void;
  readonly #stopwatch = new Stopwatch();
  readonly #begunAtMs: number;
  #connection: Connection;
  #statusCode: number | undefined;
  #headers: Readonly<Record<string, string>> = {};
  readonly #chunks: Buffer[] = [];
  #size = 0;
  #isAnswering = false;
  #isSettled = false;
  #isResent = false;

  constructor(shared: Shared, request: HttpRequest, target: Target, resolve: (sent: SendOutcome) => void) {
    this.#shared = shared;
    this.#request = request;
    this.#target = target;
    this.#resolve = resolve;
    this.limitMs = request.timeoutMs;
    this.dueAt = this.#stopwatch.startedAt + request.timeoutMs;
    this.#begunAtMs = shared.clock.now();
    this.#connection = shared.pool.take(target, request.account ?? "", this.#stopwatch);
  }

  start(): void {
    const { signal } = this.#request;
    this.#shared.underWay.add(this);
    signal?.addEventListener("abort", this.giveUp, { once: true });
    if (signal?.aborted === true) this.giveUp();
    else this.#dispatch();
  }

  readonly giveUp = (): void =>
    this.#end(() => failure("reset", "given up on our side; whether it had an effect is unknown"));

  expire(): void {
    this.#end(() => {
      const during = DURING[this.#stopwatch.phase];
      return failure("timeout", `no answer within ${this.limitMs} ms (${during})`);
    });
  }

  /**
   * Refuses to send after `timeoutMs`: timers stop while the machine is suspended, and other nodes may have gone on.
   */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    const now = performance.now();
    const passedMs = Math.max(this.#shared.clock.now() - this.#begunAtMs, now - this.#stopwatch.startedAt);
    if (this.#isSettled || passedMs < this.limitMs) return;
    const detail = `not connected within ${this.limitMs} ms: nothing was sent`;
    this.#fail(failure("timeout", detail), { isUnsent: !this.#isResent });
    controller.abort(new Error("too late"));
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: Headers): void {
    this.#stopwatch.enter("body");
    this.#statusCode = status;
    const kept = keptHeaders(headers);
    if (typeof kept === "number") this.#fail(failure("response-too-large", `the answer has ${kept} headers`));
    // `interim-answers.ts` has removed every informational answer but 101, for which no request asks.
    else if (status < 200) this.#fail(failure("invalid-response", `the answer ${status} was not asked for`));
    else if (status > 599) this.#fail(failure("invalid-response", `the status ${status} does not exist`));
    else {
      this.#headers = kept;
      this.#isAnswering = true;
    }
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#isSettled) return;
    const rest = BODY_KEPT_MAX - this.#size;
    // The chunk is a window on a far larger buffer, which would stay in memory if the chunk were not copied.
    if (rest > 0) this.#chunks.push(Buffer.from(chunk.subarray(0, rest)));
    this.#size += Math.min(chunk.length, rest);
    if (chunk.length > rest) this.#succeed(true, false);
  }

  onResponseEnd(): void {
    this.#succeed(false, true);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    const { pool } = this.#shared;
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
    this.#connection = pool.open(this.#target, this.#request.account ?? "", this.#stopwatch);
    this.#dispatch();
  }

  #dispatch(): void {
    const { headers, body } = this.#request;
    this.#connection.client.dispatch({ path: this.#target.path, method: "POST", headers, body }, this);
  }

  #end(reason: () => Failure, cause?: Error): void {
    if (this.#isAnswering) this.#succeed(true, false);
    else this.#fail(reason(), { cause });
  }

  #succeed(truncated: boolean, isReusable: boolean): void {
    const { "retry-after": retryAfter } = this.#headers;
    const [first = NO_BODY] = this.#chunks;
    const sent: SendOutcome = {
      outcome: "answered",
      statusCode: this.#statusCode ?? 0,
      headers: this.#headers,
      body: this.#chunks.length > 1 ? Buffer.concat(this.#chunks) : first,
      truncated,
      retryAfterMs: retryAfter === undefined ? null : retryAfterMs(retryAfter, this.#shared.clock.now()),
      timings: this.#stopwatch.timings(),
    };
    this.#settle(sent, isReusable);
  }

  #fail(it: Failure, about: { readonly isUnsent?: boolean; readonly cause?: Error | undefined } = {}): void {
    const { phase } = this.#stopwatch;
    const isUnsent = about.isUnsent ?? BEFORE_REQUEST.has(phase);
    // A timeout during the look-up of a name is a failure of our resolver as well.
    const isResolvers =
      about.cause instanceof ConnectFailure
        ? about.cause.isResolvers
        : UNSENT_IF_ENDED.has(it.kind) && !this.#isResent && phase === "dns";
    const sent: SendOutcome = {
      ...{ outcome: "failed", kind: it.kind, detail: it.detail, timings: this.#stopwatch.timings() },
      ...(this.#statusCode === undefined ? {} : { statusCode: this.#statusCode }),
      ...(UNSENT_IF_ENDED.has(it.kind) && isUnsent ? { unsent: true } : {}),
      ...(isResolvers ? { resolverFailed: true } : {}),
    };
    this.#settle(sent, false);
  }

  #settle(sent: SendOutcome, isReusable: boolean): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    const { pool, underWay } = this.#shared;
    underWay.remove(this);
    this.#request.signal?.removeEventListener("abort", this.giveUp);
    if (isReusable) pool.give(this.#connection);
    else pool.drop(this.#connection);
    this.#resolve(this.#isResent ? { ...sent, resent: true } : sent);
  }
}
