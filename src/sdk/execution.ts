import { isObject, type JsonObject } from "./json.ts";

export type GateResult = {
  /** As `budget` or `approval`. */
  readonly gate: string;
  readonly outcome: "allow" | "deny" | "hold";
  /** For machines; "ok" when allowed. */
  readonly code: string;
  /** A sentence for a person. */
  readonly detail: string;
};

export type Verdict = {
  readonly decision: "allow" | "deny" | "hold";
  readonly policy: { readonly id: string; readonly version: number } | null;
  readonly gates: readonly GateResult[];
  /** Violated, but the policy only watches. */
  readonly observed?: true;
};

/** What the target answered: `body` is parsed when it is JSON, else a string; null once the payload was erased. */
export type ActionResult<Body = unknown> = {
  readonly statusCode: number;
  readonly body: Body;
  /** The body is the beginning of a longer one. */
  readonly truncated?: true;
  /** The body is no text. */
  readonly encoding?: "base64";
};

export type Failure = { readonly kind: string; readonly detail: string };

type Common = {
  readonly eventId: string;
  /** The answer is that of an earlier request with the same idempotency key. */
  readonly replayed: boolean;
  readonly verdict: Verdict | null;
  /** The estimate; once it has ended, what it has cost. */
  readonly costEur: number | null;
};

/** On its way. Held: a person has to decide first. */
export type Pending =
  | (Common & { readonly status: "held"; readonly approvalId: string })
  | (Common & { readonly status: "queued" | "delivering" | "retrying" });

/** What will not change any more. */
export type Ended<Body = unknown> =
  | (Common & { readonly status: "delivered"; readonly result: ActionResult<Body> })
  | (Common & { readonly status: "failed"; readonly result: ActionResult | null; readonly failure: Failure | null })
  | (Common & { readonly status: "rejected" | "expired" | "cancelled"; readonly approvalId: string | null })
  | (Common & { readonly status: "blocked" });

export type Execution<Body = unknown> = Pending | Ended<Body>;

const PENDING: readonly string[] = ["held", "queued", "delivering", "retrying"] satisfies Pending["status"][];

export const hasEnded = <Body>(it: Execution<Body>): it is Ended<Body> => !PENDING.includes(it.status);

const resultOf = (value: unknown): ActionResult | null => {
  if (!isObject(value) || typeof value.status_code !== "number") return null;
  const { status_code: statusCode, body = null, truncated, encoding } = value;
  return {
    statusCode,
    body,
    ...(truncated === true ? { truncated } : {}),
    ...(encoding === "base64" ? { encoding } : {}),
  };
};

const failureOf = (value: unknown): Failure | null =>
  isObject(value) && typeof value.kind === "string" ? { kind: value.kind, detail: String(value.detail ?? "") } : null;

export const verdictOf = (value: unknown): Verdict | null =>
  // The service's own, as `api.md` has it.
  isObject(value) && Array.isArray(value.gates) ? (value as unknown as Verdict) : null;

export const textOf = (value: unknown): string | null => (typeof value === "string" ? value : null);

/**
 * An execution by the body of an answer, whatever the answer's HTTP status: a final failure comes with 502, a no with 409. Null when the
 * body is not one, or says what this version does not understand.
 */
export const readExecution = (body: unknown, replayed: boolean): Execution | null => {
  if (!isObject(body) || typeof body.event_id !== "string") return null;
  const costEur = typeof body.cost_eur === "number" ? body.cost_eur : null;
  return ofStatus(body, { eventId: body.event_id, replayed, verdict: verdictOf(body.verdict), costEur });
};

const ofStatus = (body: JsonObject, common: Common): Execution | null => {
  const { status } = body;
  const result = resultOf(body.result);
  const approvalId = textOf(body.approval_id);
  switch (status) {
    case "queued":
    case "delivering":
    case "retrying":
    case "blocked":
      return { status, ...common };
    case "held":
      return approvalId === null ? null : { status, ...common, approvalId };
    case "delivered":
      return result === null ? null : { status, ...common, result };
    case "failed":
      return { status, ...common, result, failure: failureOf(body.failure) };
    case "rejected":
    case "expired":
    case "cancelled":
      return { status, ...common, approvalId };
    default:
      return null;
  }
};
