import type { Verdict } from "./execution.ts";

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
  /** No answer came from the service, so the action may or may not happen. */
  "network",
  /** No answer came in time, so the action may or may not happen. */
  "timeout",
  "invalid-response",
  "unknown",
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];

export type FieldError = { readonly path: string; readonly message: string };

export type ErrorFacts = Pick<CountersignError, "code" | "detail" | "retryable"> &
  Partial<Omit<CountersignError, keyof Error>>;

/** The symbol is from the global registry, so that errors of another copy of this package are recognized, too. */
const BRAND = Symbol.for("countersign.error");

/** The client throws no other error, except the reason of an aborted signal. */
export class CountersignError extends Error {
  override readonly name = "CountersignError";
  readonly [BRAND] = true;
  declare readonly code: ErrorCode;
  declare readonly detail: string;
  declare readonly retryable: boolean;
  readonly status: number | null = null;
  readonly serverCode: string | null = null;
  readonly traceId: string | null = null;
  readonly errors: readonly FieldError[] = [];
  readonly verdict: Verdict | null = null;
  /** The event that was refused, or that was accepted before the error; null if there is none. */
  readonly eventId: string | null = null;
  readonly bundleId: string | null = null;
  readonly retryAfterMs: number | null = null;
  /** A call that is repeated with this key continues this one, so the action still happens only once. */
  readonly idempotencyKey: string | null = null;

  constructor(facts: ErrorFacts, cause?: unknown) {
    super(`${facts.serverCode ?? facts.code}: ${facts.detail}`, { cause });
    Object.assign(this, facts);
  }
}

export const isCountersignError = <Code extends ErrorCode = ErrorCode>(
  error: unknown,
  ...codes: readonly Code[]
): error is CountersignError & { readonly code: Code } =>
  typeof error === "object" &&
  error !== null &&
  BRAND in error &&
  (codes.length === 0 || (codes as readonly ErrorCode[]).includes((error as CountersignError).code));

export const wrongCall = (detail: string, cause?: unknown): CountersignError =>
  new CountersignError({ code: "invalid-request", detail, retryable: false }, cause);
