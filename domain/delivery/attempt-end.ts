import type { Commitment } from "../evidence/commitment.ts";

export type FailureKind =
  | "dns"
  | "connect"
  | "tls"
  | "timeout"
  | "reset"
  | "response-too-large"
  | "redirect"
  | "blocked-address"
  | "http-4xx"
  | "http-5xx"
  | "invalid-response"
  | "endpoint-deleted"
  | "target-changed"
  | "payload-erased"
  | "payload-damaged";

export type Failure = { readonly kind: FailureKind; readonly detail: string };

/** Milliseconds. A reused connection has 0 for dns, connect and tls; first_byte is null if no byte came. */
export type Timings = {
  readonly dns: number;
  readonly connect: number;
  readonly tls: number;
  readonly first_byte: number | null;
  readonly total: number;
};

/**
 * Commitments to what is stored of an attempt. `headers`: JSON `{"request": {…}, "response": {…}}`, in the order in which
 * they are stored. `response`: the body of the response; absent without one.
 */
export type KeptExchange = { readonly headers: Commitment; readonly response?: Commitment };

export type AttemptEnd = {
  readonly event_id: string;
  readonly endpoint_id: string;
  readonly number: number;
  readonly at: string;
  readonly duration_ms: number;
  readonly status_code: number | null;
  readonly timings_ms: Timings;
  /** The cost that the receiver reported, in micro-euros, negative if an undo pays back; null if it is no amount. */
  readonly cost_reported?: number | null;
  /** The request was sent twice, because a kept-alive connection ended without an answer. */
  readonly resent?: true;
  /** The attempt ended before there was a connection, so the receiver cannot have got the request. */
  readonly unsent?: true;
  /** Absent if nothing could be stored: an erasure came first, or the log refused it. */
  readonly kept?: KeptExchange;
  /** The attempt went to a target that the endpoint has left since, so it says nothing about the endpoint. */
  readonly elsewhere?: true;
};
