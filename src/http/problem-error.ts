import type { FastifyBaseLogger, FastifyError } from "fastify";
import { BillingUnavailable } from "../../infra/billing/errors.ts";
import { LogUnavailable, OutcomeUnknown } from "../../infra/log-errors.ts";
import { ViewsUnavailable } from "../../infra/view-errors.ts";
import { notFound, type Problem, problem } from "../streams/problems.ts";

/** Carries a problem through Fastify, in which only an error can end the parsing or the validation of a request. */
export class ProblemError extends Error {
  override readonly name = "ProblemError";
  readonly problem: Problem;

  constructor(it: Problem) {
    super(it.detail);
    this.problem = it;
  }
}

const UNAVAILABLE_RETRY_S = 2;

/** Problems that replace Fastify's own errors, whose texts would repeat parts of the request. */
const FRAMEWORK: Readonly<Record<string, Problem>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: problem("too-large", "The body is larger than this call accepts."),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: problem(
    "unsupported-media-type",
    "Send JSON: Content-Type: application/json, in UTF-8.",
  ),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: problem("invalid-request", "The body is not as long as Content-Length says."),
  FST_ERR_BAD_URL: problem("invalid-request", "The path is not valid: check its percent-encoding."),
  FST_ERR_MAX_PARAM_LENGTH: notFound(),
};

export const expectedProblem = (error: unknown): Problem | null => {
  if (error instanceof ProblemError) return error.problem;
  if (error instanceof LogUnavailable || error instanceof OutcomeUnknown) {
    return problem("unavailable", "The log cannot be written or read at the moment. Repeat the request.", {
      retryAfterS: UNAVAILABLE_RETRY_S,
    });
  }
  if (error instanceof ViewsUnavailable) {
    return problem("unavailable", "The views cannot be read at the moment. Repeat the request.", {
      retryAfterS: UNAVAILABLE_RETRY_S,
    });
  }
  if (error instanceof BillingUnavailable) {
    return problem("unavailable", "The billing provider is not available at the moment. Repeat the request.", {
      retryAfterS: UNAVAILABLE_RETRY_S,
    });
  }
  if (!(error instanceof Error)) return null;
  // Fastify's errors have both of these members; other errors may lack them.
  const { code, statusCode = 500 } = error as Partial<FastifyError>;
  const known = FRAMEWORK[code ?? ""];
  if (known !== undefined) return known;
  return statusCode < 500 ? problem("invalid-request", "The request could not be read.") : null;
};

/** The problem that answers an error. Errors that an operator has to know of are logged. */
export const problemOfError = (
  error: unknown,
  { id, log }: { readonly id: string; readonly log: Pick<FastifyBaseLogger, "warn" | "error"> },
): Problem => {
  const expected = expectedProblem(error);
  if (expected === null) {
    log.error({ err: error, trace_id: id }, "unexpected error");
    return problem("internal", "The cause is in our log under this trace id.");
  }
  if (expected.problem === "unavailable") log.warn({ err: error, trace_id: id }, "log unavailable");
  return expected;
};
