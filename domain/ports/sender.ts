import type { FailureKind, Timings } from "../delivery/events.ts";

export type HttpRequest = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** Whose share of the look-ups in the DNS it takes; left out: nobody's. */
  readonly account?: string;
  /** For the whole exchange: DNS, connection, request and response. */
  readonly timeoutMs: number;
  /** Aborts the attempt; its outcome is then unknown, as after a reset. */
  readonly signal?: AbortSignal;
};

/**
 * What came of one request. The status decides: whatever happens to the body behind it is no failure. `resent`: it went out
 * twice, as a kept-alive connection ended under it without an answer; what is said is of the second time.
 */
export type Sent = { readonly resent?: true } & (
  | {
      readonly outcome: "answered";
      /** 200 to 599. */
      readonly statusCode: number;
      /** Names in lower case, several values of one name joined by a comma. */
      readonly headers: Readonly<Record<string, string>>;
      /** As it came over the wire, never inflated. */
      readonly body: Uint8Array;
      /** The answer's body was longer than what is kept, or broke off. */
      readonly truncated: boolean;
      /** Of a Retry-After header that can be understood. */
      readonly retryAfterMs: number | null;
      readonly timings: Timings;
    }
  | {
      readonly outcome: "failed";
      readonly kind: FailureKind;
      readonly detail: string;
      readonly statusCode?: number;
      /** It ended before there was a connection to send it on. */
      readonly unsent?: true;
      /** Our own resolver could not resolve the name in time: this says nothing about the receiver. */
      readonly resolverFailed?: true;
      readonly timings: Timings;
    }
);

/** One POST to a receiver. Never rejects: whatever happens is a value. */
export type HttpSender = {
  send(request: HttpRequest): Promise<Sent>;
  /** Waits at most `limitMs` for requests in flight, then aborts them. */
  close(limitMs: number): Promise<void>;
};
