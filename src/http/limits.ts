/** How long and how much one connection or request may take. Tests shorten the times. */
export type HttpLimits = {
  readonly headersTimeoutMs: number;
  readonly requestTimeoutMs: number;
  readonly idleTimeoutMs: number;
  readonly keepAliveTimeoutMs: number;
  readonly timeoutCheckMs: number;
  readonly closeGraceMs: number;
};

export const HTTP_LIMITS: HttpLimits = {
  /** A request line and headers fit in one packet: longer is a slow network at its worst, or a slowloris. */
  headersTimeoutMs: 10_000,
  /** For headers and body together: 1 MB at 35 kB/s. */
  requestTimeoutMs: 30_000,
  /** Without a byte in either direction. Longer than the longest wait of an answer (30 s). */
  idleTimeoutMs: 75_000,
  /** Above the 60 s that most load balancers keep theirs, so that it is never us who closes under a request. */
  keepAliveTimeoutMs: 65_000,
  /** How often node looks for requests that are over their time. */
  timeoutCheckMs: 5_000,
  /** What is in flight when the program stops may take so long; then its connection is cut. */
  closeGraceMs: 10_000,
};

/** Bodies of the API. Ingest has a limit of its own. */
export const API_BODY_BYTES_MAX = 256 * 1024;
/** Request line and all headers. The largest that real senders use (JWTs, long cookies) stay below 8 KiB. */
export const HEADER_BYTES_MAX = 16 * 1024;
/** Node by itself drops headers beyond a count without a word; here all are read and too many are refused. */
export const HEADERS_MAX = 200;
/** Ids have 36 characters, action names fewer than 128. */
export const PARAM_LENGTH_MAX = 256;
/** Each idle connection costs some 20 KiB. */
export const CONNECTIONS_MAX = 8_192;
/** How many errors of one body are listed. */
export const LISTED_ERRORS_MAX = 20;
/** How long a read with `?after=` waits for its views; then it answers 503 `view-behind`. */
export const VIEW_WAIT_MS = 2_000;
