import { isObject, type JsonObject, type Read } from "./json.ts";

export type GateResult = {
  /** As `budget` or `approval`. */
  readonly gate: string;
  readonly outcome: "allow" | "deny" | "hold";
  /** For machines; "ok" when allowed. */
  readonly code: string;
  /** A sentence for a person. */
  readonly detail: string;
  /** Whose gate it is, where several policies were asked. */
  readonly policy?: { readonly id: string; readonly version: number };
};

export type Verdict = {
  readonly decision: "allow" | "deny" | "hold";
  readonly policy: { readonly id: string; readonly version: number } | null;
  /** All policies that were asked, where there are several. `steps`: of a bundle, those that it applies to. */
  readonly policies?: readonly { readonly id: string; readonly version: number; readonly steps?: readonly number[] }[];
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

/** Of an execution and of a bundle. */
export type Common = {
  /** The answer is that of an earlier request with the same idempotency key. */
  readonly replayed: boolean;
  readonly verdict: Verdict | null;
  /** The estimate; once it has ended, what it has cost. */
  readonly costEur: number | null;
};

type CommonOfExecution = Common & { readonly eventId: string };

/** On its way. Held: a person has to decide first. */
export type Pending =
  | (CommonOfExecution & { readonly status: "held"; readonly approvalId: string })
  | (CommonOfExecution & { readonly status: "queued" | "delivering" | "retrying" });

/** What will not change any more. */
export type Ended<Body = unknown> =
  | (CommonOfExecution & { readonly status: "delivered"; readonly result: ActionResult<Body> })
  | (CommonOfExecution & {
      readonly status: "failed";
      readonly result: ActionResult | null;
      readonly failure: Failure | null;
    })
  | (CommonOfExecution & { readonly status: "rejected" | "expired" | "cancelled"; readonly approvalId: string | null })
  | (CommonOfExecution & { readonly status: "blocked" });

export type Execution<Body = unknown> = Pending | Ended<Body>;

export type PendingBundleStatus = "held" | "running" | "rolling_back";
type PendingStatus = Pending["status"] | PendingBundleStatus;

const PENDING: readonly unknown[] = [
  "held",
  "queued",
  "delivering",
  "retrying",
  "running",
  "rolling_back",
] satisfies PendingStatus[];

export const isPending = (status: unknown): boolean => PENDING.includes(status);

/** Of an execution or a bundle: whether it is over. */
export const hasEnded = <It extends { readonly status: string }>(
  it: It,
): it is Exclude<It, { readonly status: PendingStatus }> => !isPending(it.status);

/** `truncated` and `encoding` as the service says them, or not at all. */
export const resultOf = (value: unknown): ActionResult | null => {
  if (!isObject(value) || typeof value.status_code !== "number") return null;
  const { status_code: statusCode, ...said } = value;
  return { statusCode, body: null, ...said };
};

// The service's own, as `/openapi.json` describes it.
const failureOf = (value: unknown): Failure | null => (isObject(value) ? (value as unknown as Failure) : null);

export const verdictOf = (value: unknown): Verdict | null =>
  // The service's own, as `/openapi.json` describes it.
  isObject(value) && Array.isArray(value.gates) ? (value as unknown as Verdict) : null;

export const textOf = (value: unknown): string | null => (typeof value === "string" ? value : null);

export const commonOf = ({ cost_eur, verdict }: JsonObject, replayed: boolean): Common => ({
  replayed,
  verdict: verdictOf(verdict),
  costEur: typeof cost_eur === "number" ? cost_eur : null,
});

/** What an execution has beside what all have, by its status; null when that is missing. */
const moreOf = ({ status, ...body }: JsonObject): object | null => {
  const result = resultOf(body.result);
  const approvalId = textOf(body.approval_id);
  switch (status) {
    case "queued":
    case "delivering":
    case "retrying":
    case "blocked":
      return {};
    case "held":
      return approvalId === null ? null : { approvalId };
    case "delivered":
      return result === null ? null : { result };
    case "failed":
      return { result, failure: failureOf(body.failure) };
    case "rejected":
    case "expired":
    case "cancelled":
      return { approvalId };
    default:
      return null;
  }
};

/**
 * An execution by the body of an answer, whatever the answer's HTTP status: a final failure comes with 502, a no with 409. Null when the
 * body is not one, or says what this version does not understand.
 */
export const readExecution: Read<Execution> = (body, replayed) => {
  const more = moreOf(body);
  const eventId = textOf(body.event_id);
  if (eventId === null || more === null) return null;
  // By its status it is one of them.
  return { status: body.status, eventId, ...commonOf(body, replayed), ...more } as Execution;
};
