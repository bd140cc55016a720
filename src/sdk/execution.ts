import { isObject, type JsonObject, type Read } from "./json.ts";

export type GateResult = {
  readonly gate: string;
  readonly outcome: "allow" | "deny" | "hold";
  readonly code: string;
  readonly detail: string;
  readonly policy?: { readonly id: string; readonly version: number };
};

export type Verdict = {
  readonly decision: "allow" | "deny" | "hold";
  readonly policy: { readonly id: string; readonly version: number } | null;
  readonly policies?: readonly { readonly id: string; readonly version: number; readonly steps?: readonly number[] }[];
  readonly gates: readonly GateResult[];
  /** Present if a gate was violated but its policy only observes, so that the request passed. */
  readonly observed?: true;
};

/** `body` is the parsed value if the answer is JSON, else a string; null once the payload is erased. */
export type ActionResult<Body = unknown> = {
  readonly statusCode: number;
  readonly body: Body;
  readonly truncated?: true;
  readonly encoding?: "base64";
};

export type Failure = { readonly kind: string; readonly detail: string };

export type Common = {
  /** True if this is the answer to an earlier request with the same idempotency key. */
  readonly replayed: boolean;
  readonly verdict: Verdict | null;
  /** Until the end an estimate, then the actual cost; null if no cost is known. */
  readonly costEur: number | null;
};

type CommonOfExecution = Common & { readonly eventId: string };

export type Pending =
  | (CommonOfExecution & { readonly status: "held"; readonly approvalId: string })
  | (CommonOfExecution & { readonly status: "queued" | "delivering" | "retrying" });

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

export const hasEnded = <It extends { readonly status: string }>(
  it: It,
): it is Exclude<It, { readonly status: PendingStatus }> => !isPending(it.status);

export const resultOf = (value: unknown): ActionResult | null => {
  if (!isObject(value) || typeof value.status_code !== "number") return null;
  const { status_code: statusCode, ...said } = value;
  return { statusCode, body: null, ...said };
};

const failureOf = (value: unknown): Failure | null => (isObject(value) ? (value as Failure) : null);

export const verdictOf = (value: unknown): Verdict | null =>
  isObject(value) && Array.isArray(value.gates) ? (value as Verdict) : null;

export const textOf = (value: unknown): string | null => (typeof value === "string" ? value : null);

export const commonOf = ({ cost_eur, verdict }: JsonObject, replayed: boolean): Common => ({
  replayed,
  verdict: verdictOf(verdict),
  costEur: typeof cost_eur === "number" ? cost_eur : null,
});

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

/** The HTTP status does not matter, because a final failure comes as a 502 and a rejection as a 409. */
export const readExecution: Read<Execution> = (body, replayed) => {
  const more = moreOf(body);
  const eventId = textOf(body.event_id);
  if (eventId === null || more === null) return null;
  return { status: body.status, eventId, ...commonOf(body, replayed), ...more } as Execution;
};
