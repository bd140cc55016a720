import type { Verdict } from "./execution.ts";

/** Every code that an error can have: first what the service answers, then what only this side can tell. */
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
  /** No answer came: whether the action happens is not known. */
  "network",
  /** The time was up: whether the action happens is not known. */
  "timeout",
  /** What answered is not the service, or says what this version does not understand. */
  "invalid-response",
  /** A refusal with a code that is newer than this version: it is in `serverCode`. */
  "unknown",
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];

/** `path` is a JSON Pointer into the request. */
export type FieldError = { readonly path: string; readonly message: string };

export type ErrorFacts = Pick<CountersignError, "code" | "detail" | "retryable"> &
  Partial<Omit<CountersignError, keyof Error>>;

/** A symbol of the registry: an error of another copy of this package is one as well. */
const BRAND = Symbol.for("countersign.error");

/** The only error that the client throws, but for the reason of a signal that was aborted. */
export class CountersignError extends Error {
  override readonly name = "CountersignError";
  readonly [BRAND] = true;
  declare readonly code: ErrorCode;
  /** A sentence: what is wrong and, where one can, what to change. */
  declare readonly detail: string;
  /** The same call may succeed later. */
  declare readonly retryable: boolean;
  /** Of HTTP; null when no answer came, or nothing was sent. */
  readonly status: number | null = null;
  /** The code as the service gave it. */
  readonly serverCode: string | null = null;
  readonly traceId: string | null = null;
  readonly errors: readonly FieldError[] = [];
  /** What the gates said, when one of them refused. */
  readonly verdict: Verdict | null = null;
  /** Under which a refusal by a gate is recorded, or what has been accepted before it went wrong. */
  readonly eventId: string | null = null;
  /** As `eventId`, of a bundle. */
  readonly bundleId: string | null = null;
  /** How long the service asks to be left alone. */
  readonly retryAfterMs: number | null = null;
  /** The same call with this key goes on where this one stopped: its action still happens once. */
  readonly idempotencyKey: string | null = null;

  constructor(facts: ErrorFacts, cause?: unknown) {
    super(`${facts.serverCode ?? facts.code}: ${facts.detail}`, { cause });
    Object.assign(this, facts);
  }
}

/** Whether it is an error of the client; with codes, whether it is one of those. */
export const isCountersignError = <Code extends ErrorCode = ErrorCode>(
  error: unknown,
  ...codes: readonly Code[]
): error is CountersignError & { readonly code: Code } =>
  typeof error === "object" &&
  error !== null &&
  BRAND in error &&
  // The brand says that it is one.
  (codes.length === 0 || (codes as readonly ErrorCode[]).includes((error as CountersignError).code));

/** The call itself is wrong: nothing was sent. */
export const wrongCall = (detail: string, cause?: unknown): CountersignError =>
  new CountersignError({ code: "invalid-request", detail, retryable: false }, cause);
