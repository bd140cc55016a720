import type { Verdict } from "./execution.ts";

/** First the codes of the service, then those that only the client can have. */
export const ERROR_CODES = [
  "invalid-request",
  "mixed-credentials",
  "unauthenticated",
  "forbidden",
  "agent-suspended",
  "out-of-scope",
  "not-found",
  "unknown-action",
  "method-not-allowed",
  "request-timeout",
  "in-progress",
  "conflict",
  "too-large",
  "unsupported-media-type",
  "idempotency-key-reused",
  "invalid-bundle",
  "irreversible-not-last",
  "no-compensation",
  "gate-require-fields",
  "gate-content",
  "gate-schema",
  "cost-unknown",
  "limit-reached",
  "gate-rate",
  "gate-budget",
  "gate-loop",
  "gate-quota",
  "rate-limited",
  "headers-too-large",
  "internal",
  "overloaded",
  "unavailable",
  "view-behind",
  /** No answer came: the action may or may not happen. */
  "network",
  /** The time was up: the action may or may not happen. */
  "timeout",
  /** The answer is not from the service, or this version does not understand it. */
  "invalid-response",
  /** The code in `serverCode` is newer than this version. */
  "unknown",
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];

export type FieldError = { readonly path: string; readonly message: string };

export type ErrorFacts = Pick<CountersignError, "code" | "detail" | "retryable"> &
  Partial<Omit<CountersignError, keyof Error>>;

/** From the global registry, so errors of another copy of this package are recognized. */
const BRAND = Symbol.for("countersign.error");

/** The only error of the client, apart from the reason of an aborted signal. */
export class CountersignError extends Error {
  override readonly name = "CountersignError";
  readonly [BRAND] = true;
  declare readonly code: ErrorCode;
  declare readonly detail: string;
  declare readonly retryable: boolean;
  /** Null without an answer. */
  readonly status: number | null = null;
  readonly serverCode: string | null = null;
  readonly traceId: string | null = null;
  readonly errors: readonly FieldError[] = [];
  readonly verdict: Verdict | null = null;
  /** The event of the refusal, or of the request that was accepted before the error. */
  readonly eventId: string | null = null;
  readonly bundleId: string | null = null;
  readonly retryAfterMs: number | null = null;
  /** Repeating the call with this key continues it: the action still happens once. */
  readonly idempotencyKey: string | null = null;

  constructor(facts: ErrorFacts, cause?: unknown) {
    super(`${facts.serverCode ?? facts.code}: ${facts.detail}`, { cause });
    Object.assign(this, facts);
  }
}

/** True for an error of the client and, if codes are given, with one of them. */
export const isCountersignError = <Code extends ErrorCode = ErrorCode>(
  error: unknown,
  ...codes: readonly Code[]
): error is CountersignError & { readonly code: Code } =>
  typeof error === "object" &&
  error !== null &&
  BRAND in error &&
  (codes.length === 0 || (codes as readonly ErrorCode[]).includes((error as CountersignError).code));

/** An error of the caller; nothing was sent. */
export const wrongCall = (detail: string, cause?: unknown): CountersignError =>
  new CountersignError({ code: "invalid-request", detail, retryable: false }, cause);
