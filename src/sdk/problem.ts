import { ERROR_CODES, type ErrorCode, type ErrorFacts, type FieldError } from "./errors.ts";
import { textOf, verdictOf } from "./execution.ts";
import { isObject } from "./json.ts";

/** Timeouts, too early, too many; what is above 500 is said below. */
const TRANSIENT: readonly number[] = [408, 425, 429];
const NOT_IMPLEMENTED = 501;
const SECONDS = /^\d+$/;

/** Milliseconds of a Retry-After (RFC 9110, section 10.2.3), which is in seconds or an HTTP date. */
const retryAfterOf = (header: string | null): number | null => {
  if (header === null) return null;
  const ms = SECONDS.test(header) ? Number(header) * 1_000 : Date.parse(header) - Date.now();
  return ms >= 0 ? ms : ms < 0 ? 0 : null;
};

const isKnown = (code: string): code is ErrorCode => (ERROR_CODES as readonly string[]).includes(code);

/** What an answer that is no success says: a problem (RFC 9457) of the service, or anything of anybody else. */
export const problemFacts = (status: number, body: unknown, retryAfter: string | null): ErrorFacts => {
  const it = isObject(body) ? body : {};
  const { code, detail, retryable, errors } = it;
  const eventId = textOf(it.event_id);
  const bundleId = textOf(it.bundle_id);
  const isTransient = TRANSIENT.includes(status) || (status >= 500 && status !== NOT_IMPLEMENTED);
  const common = { status, eventId, bundleId, retryAfterMs: retryAfterOf(retryAfter) };
  if (typeof code === "string") {
    return {
      ...common,
      code: isKnown(code) ? code : "unknown",
      serverCode: code,
      detail: textOf(detail) ?? textOf(it.title) ?? "",
      retryable: typeof retryable === "boolean" ? retryable : isTransient,
      traceId: textOf(it.trace_id),
      verdict: verdictOf(it.verdict),
      // The service's own, as `/openapi.json` describes them.
      errors: Array.isArray(errors) ? (errors.filter(isObject) as unknown as FieldError[]) : [],
    };
  }
  // A state of an execution that this version does not know stays one, however often it asks.
  const isOfAnother = isTransient && eventId === null;
  return {
    ...common,
    code: isOfAnother ? "unavailable" : "invalid-response",
    detail: `An answer with ${status} is not understood.`,
    retryable: isOfAnother,
  };
};
