import { ERROR_CODES, type ErrorCode, type ErrorFacts, type FieldError } from "./errors.ts";
import { textOf, verdictOf } from "./execution.ts";
import { isObject } from "./json.ts";

const TRANSIENT: readonly number[] = [408, 425, 429];
const NOT_IMPLEMENTED = 501;
const SECONDS = /^\d+$/;

/** The delay (ms) of a Retry-After (RFC 9110, section 10.2.3), which has seconds or a date; null without one. */
const retryAfterOf = (header: string | null): number | null => {
  if (header === null) return null;
  const ms = SECONDS.test(header) ? Number(header) * 1_000 : Date.parse(header) - Date.now();
  return ms >= 0 ? ms : ms < 0 ? 0 : null;
};

const isKnown = (code: string): code is ErrorCode => (ERROR_CODES as readonly string[]).includes(code);

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
      errors: Array.isArray(errors) ? (errors.filter(isObject) as readonly object[] as FieldError[]) : [],
    };
  }
  // An unreadable answer that names an event is final: the event's state would not become readable.
  const isOfAnother = isTransient && eventId === null;
  return {
    ...common,
    code: isOfAnother ? "unavailable" : "invalid-response",
    detail: `Unreadable answer with status ${status}.`,
    retryable: isOfAnother,
  };
};
