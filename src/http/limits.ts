export type HttpLimits = {
  readonly headersTimeoutMs: number;
  readonly requestTimeoutMs: number;
  readonly idleTimeoutMs: number;
  readonly keepAliveTimeoutMs: number;
  readonly timeoutCheckMs: number;
  readonly closeGraceMs: number;
};

export const HTTP_LIMITS: HttpLimits = {
  /** A request line and headers fit into one packet, so only a very slow network or an attack takes longer. */
  headersTimeoutMs: 10_000,
  /** The time for headers and body together: 1 MB at 35 kB/s. */
  requestTimeoutMs: 30_000,
  /** The time without a byte in either direction; it is longer than the longest wait for an answer (30 s). */
  idleTimeoutMs: 75_000,
  /** Longer than most load balancers keep a connection (60 s), which must not end while a request is on its way. */
  keepAliveTimeoutMs: 65_000,
  timeoutCheckMs: 5_000,
  closeGraceMs: 10_000,
};

export const API_BODY_BYTES_MAX = 256 * 1024;
/** Senders have their body ready, so a longer pause means a dead network or an attack. */
export const BODY_SILENCE_MS = 5_000;
/** The request line and all headers of real senders (JWTs, long cookies) stay below 8 KiB. */
export const HEADER_BYTES_MAX = 16 * 1024;
/** Node would silently drop headers beyond its own limit, so that is off and more than these are refused. */
export const HEADERS_MAX = 200;
export const PARAM_LENGTH_MAX = 256;
/** One network has half of them at most; an idle one takes about 20 KiB. */
export const CONNECTIONS_MAX = 16_384;
/** Requests of one connection that have no answer yet. Hardly any client sends a second one before the first answer. */
export const PIPELINED_MAX = 16;
export const LISTED_ERRORS_MAX = 20;
export const VIEW_WAIT_MS = 2_000;
