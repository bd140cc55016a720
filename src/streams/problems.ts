import type { Counts } from "../../domain/account/plans.ts";
import { defined } from "../../domain/defined.ts";
import type { JsonObject } from "../../domain/json.ts";

/** Every problem that a route may answer (RFC 9457). `retryable`: the same request may succeed later. */
export const PROBLEMS = {
  "invalid-request": { status: 400, title: "The request is not valid", retryable: false },
  "authorization-pending": { status: 400, title: "The login waits for a person", retryable: true },
  "slow-down": { status: 400, title: "Ask less often", retryable: true },
  "access-denied": { status: 400, title: "The login was refused", retryable: false },
  "expired-token": { status: 400, title: "The code is not valid any more", retryable: false },
  "mixed-credentials": { status: 400, title: "Two kinds of credentials on one request", retryable: false },
  unauthenticated: { status: 401, title: "No valid credential", retryable: false },
  "invalid-credentials": { status: 401, title: "Wrong address or password", retryable: false },
  "invalid-signature": { status: 401, title: "The signature is not valid", retryable: false },
  forbidden: { status: 403, title: "Not allowed with this credential", retryable: false },
  "person-required": { status: 403, title: "This takes a person with a session", retryable: false },
  "self-approval": { status: 403, title: "Nobody approves their own request", retryable: false },
  "cross-site": { status: 403, title: "Cross-site request refused", retryable: false },
  "agent-suspended": { status: 403, title: "The agent is suspended", retryable: false },
  "signup-closed": { status: 403, title: "Sign-up is closed", retryable: false },
  "out-of-scope": { status: 403, title: "Outside the agent's scope", retryable: false },
  "plan-limit": { status: 403, title: "The plan's limit is reached", retryable: false },
  "not-found": { status: 404, title: "Not found", retryable: false },
  "unknown-action": { status: 404, title: "Unknown action", retryable: false },
  "method-not-allowed": { status: 405, title: "Method not allowed", retryable: false },
  "request-timeout": { status: 408, title: "The request took too long", retryable: true },
  "email-taken": { status: 409, title: "This address already has an account", retryable: false },
  "in-progress": { status: 409, title: "Still in progress", retryable: true },
  "delivery-id-reused": {
    status: 409,
    title: "This delivery id was used with a different body before",
    retryable: false,
  },
  "source-paused": { status: 409, title: "The source is paused", retryable: true },
  "endpoint-in-use": { status: 409, title: "The endpoint is in use", retryable: false },
  "policy-in-use": { status: 409, title: "The policy is in use", retryable: false },
  "digest-mismatch": { status: 409, title: "The digest is not the one to be approved", retryable: false },
  "already-decided": { status: 409, title: "The approval has already been decided", retryable: false },
  expired: { status: 409, title: "The approval has expired", retryable: false },
  "already-delivered": { status: 409, title: "The event has already been delivered", retryable: false },
  "endpoint-disabled": { status: 409, title: "The endpoint is disabled", retryable: false },
  "not-sealed": { status: 409, title: "Not sealed yet", retryable: true },
  "not-witnessed": { status: 409, title: "Not witnessed yet", retryable: true },
  conflict: { status: 409, title: "Not possible in the current state", retryable: false },
  "too-large": { status: 413, title: "Too large", retryable: false },
  "unsupported-media-type": { status: 415, title: "Unsupported content type", retryable: false },
  "too-few-approvers": { status: 422, title: "Too few people could approve this", retryable: false },
  "weak-password": { status: 422, title: "The password is too weak", retryable: false },
  "unknown-event-type": { status: 422, title: "No sample of this event type", retryable: false },
  "unknown-provider": { status: 422, title: "Unknown provider type", retryable: false },
  "address-not-allowed": { status: 422, title: "This address is not allowed", retryable: false },
  "invalid-policy": { status: 422, title: "The policy is not valid", retryable: false },
  "invalid-action": { status: 422, title: "The action is not valid", retryable: false },
  "invalid-bundle": { status: 422, title: "The bundle is not valid", retryable: false },
  "irreversible-not-last": { status: 422, title: "An irreversible action can only be the last step", retryable: false },
  "no-compensation": { status: 422, title: "A step has no compensation", retryable: false },
  "idempotency-key-reused": {
    status: 422,
    title: "This key was used for a different request before",
    retryable: false,
  },
  "gate-require-fields": { status: 422, title: "Required fields are missing", retryable: false },
  "gate-content": { status: 422, title: "Refused by a content rule", retryable: false },
  "cost-unknown": { status: 422, title: "The cost cannot be determined", retryable: false },
  "gate-schema": { status: 422, title: "The payload does not match the schema", retryable: false },
  "rate-limited": { status: 429, title: "Too many requests", retryable: true },
  "gate-rate": { status: 429, title: "The policy's rate limit is reached", retryable: true },
  "gate-budget": { status: 429, title: "The policy's budget is spent", retryable: true },
  "gate-loop": { status: 429, title: "Stopped as a loop", retryable: true },
  "gate-quota": { status: 429, title: "The plan's events are used up", retryable: true },
  "headers-too-large": { status: 431, title: "The request's headers are too large", retryable: false },
  "limit-reached": { status: 403, title: "The account has as many of these as its plan includes", retryable: false },
  "payload-not-kept": { status: 409, title: "The payload was not kept whole", retryable: false },
  "payload-damaged": { status: 500, title: "The stored payload is damaged", retryable: false },
  internal: { status: 500, title: "Something went wrong on our side", retryable: true },
  overloaded: { status: 503, title: "Overloaded", retryable: true },
  unavailable: { status: 503, title: "Not available at the moment", retryable: true },
  "view-behind": { status: 503, title: "The view has not caught up yet", retryable: true },
} as const satisfies Record<string, { status: number; title: string; retryable: boolean }>;

export type ProblemCode = keyof typeof PROBLEMS;

// Object.keys has lost the type of the names.
export const PROBLEM_CODES = Object.keys(PROBLEMS) as readonly ProblemCode[];

export type Problem = {
  readonly problem: ProblemCode;
  readonly detail: string;
  /** `name` is an unknown name as it was written, and `proposal` the known one that was most likely meant. */
  readonly errors?: readonly {
    readonly path: string;
    readonly message: string;
    readonly name?: string;
    readonly proposal?: string;
  }[];
  readonly extra?: JsonObject;
  readonly retryable?: boolean;
  readonly retryAfterS?: number;
  /** Finds the account that a refusal without a credential concerns, after the answer: its time reveals nothing. */
  readonly about?: () => Promise<AccountSubject | null>;
};

export type AccountSubject = { readonly account: string; readonly subject: string };

export const problem = (
  code: ProblemCode,
  detail: string,
  more: Omit<Problem, "problem" | "detail"> = {},
): Problem => ({
  problem: code,
  detail,
  ...more,
});

export const changedMeanwhile = (): Problem =>
  problem("conflict", "It was changed at the same moment: look at what is in force, and ask again.");

export const notFound = (): Problem => problem("not-found", "There is nothing at this address for this credential.");

export const payloadNotKept = (kept: number, size: number): Problem =>
  problem(
    "payload-not-kept",
    `Only the first ${kept} of ${size} bytes are kept, because the account's refused_bytes_day was used up. Its sender can send it again.`,
  );

export const limitReached = (name: keyof Counts, max?: number): Problem => {
  const words = name.replaceAll("_", " ");
  const limit = max === undefined ? `on ${words}` : `of ${max} ${words}`;
  const detail = `The plan's limit ${limit} is reached (limits.${name} in GET /v1/capabilities). Remove some, or choose a larger plan.`;
  return problem("limit-reached", detail, { extra: defined({ limit: name, max }) });
};

export const missingReference = (path: string, what: string): Problem =>
  problem("not-found", `The account has no ${what} of this id.`, { errors: [{ path, message: "does not exist" }] });

export const problemBody = (it: Problem, traceId: string): JsonObject => {
  const { status, title } = PROBLEMS[it.problem];
  const retryable = it.retryable ?? PROBLEMS[it.problem].retryable;
  return {
    type: `/problems/${it.problem}`,
    title,
    status,
    detail: it.detail,
    code: it.problem,
    retryable,
    trace_id: traceId,
    ...defined({ errors: it.errors?.map((error) => ({ ...error })) }),
    ...it.extra,
  };
};
