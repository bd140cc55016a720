import type { FailureKind, Timings } from "../delivery/events.ts";

export type HttpRequest = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** Whose share of the DNS look-ups it takes; left out: none. */
  readonly account?: string;
  /** For the whole exchange: DNS, connection, request and response. */
  readonly timeoutMs: number;
  /** Aborts the attempt, whose outcome is then unknown, as after a reset. */
  readonly signal?: AbortSignal;
};

/**
 * The status decides, even if the body breaks off. `resent`: a kept-alive connection ended without an answer and the
 * request was sent again; the outcome is that of the second time.
 */
export type SendOutcome = { readonly resent?: true } & (
  | {
      readonly outcome: "answered";
      /** 200 to 599. */
      readonly statusCode: number;
      /** Names in lower case, several values of one name joined by a comma. */
      readonly headers: Readonly<Record<string, string>>;
      /** As received, never decompressed. */
      readonly body: Uint8Array;
      /** The body was longer than the stored part, or broke off. */
      readonly truncated: boolean;
      /** Null without a valid Retry-After header. */
      readonly retryAfterMs: number | null;
      readonly timings: Timings;
    }
  | {
      readonly outcome: "failed";
      readonly kind: FailureKind;
      readonly detail: string;
      readonly statusCode?: number;
      /** It failed before there was a connection. */
      readonly unsent?: true;
      /** Our own resolver failed, which says nothing about the receiver. */
      readonly resolverFailed?: true;
      readonly timings: Timings;
    }
);

/** One POST to a receiver. Never rejects: every outcome is a value. */
export type HttpSender = {
  send(request: HttpRequest): Promise<SendOutcome>;
  /** Waits at most `limitMs` for requests in flight, then aborts them. */
  close(limitMs: number): Promise<void>;
};
