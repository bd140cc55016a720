export type HttpLimits = {
  readonly headersTimeoutMs: number;
  readonly requestTimeoutMs: number;
  readonly idleTimeoutMs: number;
  readonly keepAliveTimeoutMs: number;
  readonly timeoutCheckMs: number;
  readonly closeGraceMs: number;
};

export const HTTP_LIMITS: HttpLimits = {
  /** The request line and headers fit into one packet, so only a very slow network or an attack takes longer. */
  headersTimeoutMs: 10_000,
  /** Headers and body together have to arrive within this time, which allows 1 MB at 35 kB/s. */
  requestTimeoutMs: 30_000,
  /** A connection without a byte in either direction ends after this time; a call waits at most 30 s for its answer. */
  idleTimeoutMs: 75_000,
  /** Longer than most load balancers keep an idle connection (60 s): else it could end with a request on its way. */
  keepAliveTimeoutMs: 65_000,
  timeoutCheckMs: 5_000,
  closeGraceMs: 10_000,
};

export const API_BODY_BYTES_MAX = 256 * 1024;
/** A body that pauses for longer is given up: senders have it ready, so the network is dead or it is an attack. */
export const BODY_SILENCE_MS = 5_000;
/** Limits the request line and all headers together. Those of real senders (JWTs, long cookies) stay below 8 KiB. */
export const HEADER_BYTES_MAX = 16 * 1024;
/** A request with more headers is refused. Node's own limit is turned off, because it would drop headers silently. */
export const HEADERS_MAX = 200;
export const PARAM_LENGTH_MAX = 256;
/** One network can have at most half of these connections. An idle connection takes about 20 KiB. */
export const CONNECTIONS_MAX = 16_384;
/** Limits the unanswered requests of a connection. Hardly any client sends a second request before the first answer. */
export const PIPELINED_MAX = 16;
export const LISTED_ERRORS_MAX = 20;
export const VIEW_WAIT_MS = 2_000;
