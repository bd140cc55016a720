import type { FailureKind, Timings } from "../delivery/attempt-end.ts";

export type HttpRequest = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** The account whose share of the DNS look-ups the request takes. */
  readonly account?: string;
  /** For the whole exchange: DNS, connection, request and response. */
  readonly timeoutMs: number;
  /** Aborts the attempt, whose outcome is then unknown, as after a reset. */
  readonly signal?: AbortSignal;
};

/** `resent`: a kept-alive connection ended without an answer, and the request was sent again. */
export type SendOutcome = { readonly resent?: true } & (
  | {
      readonly outcome: "answered";
      readonly statusCode: number;
      /** Names are in lower case; several values of one name are joined by a comma. */
      readonly headers: Readonly<Record<string, string>>;
      /** The bytes as received, never decompressed. */
      readonly body: Uint8Array;
      /** True if the body was longer than the part that is kept, or broke off. */
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
      readonly unsent?: true;
      /** Our own resolver failed, which says nothing about the receiver. */
      readonly resolverFailed?: true;
      readonly timings: Timings;
    }
);

export type HttpSender = {
  send(request: HttpRequest): Promise<SendOutcome>;
  /** Waits at most `limitMs` for requests in flight, then aborts them. */
  close(limitMs: number): Promise<void>;
};
