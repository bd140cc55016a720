import { policiesOf } from "../gate/verdict.ts";
import type { FailureKind } from "./attempt-end.ts";
import type { DeliveryEvent, Request, StepOutcome } from "./events.ts";

/** The receiver may have executed the request. `reported`: the last cost it reported in micro-euros, or null. */
export type Reached = { readonly reported: number | null };

type Failed = { readonly kind: FailureKind };
type Sendings = { readonly resent?: true; readonly unsent?: true };
type FailedAttempt = Sendings & { readonly failure: Failed; readonly status_code: number | null };

export const UNSEEN: Reached = { reported: null };

const NOT_REACHED: ReadonlySet<FailureKind> = new Set([
  "dns",
  "connect",
  "tls",
  "blocked-address",
  "endpoint-deleted",
  "target-changed",
  "payload-erased",
  "payload-damaged",
]);

/** After these statuses the request may have been done (RFC 9110, 15.5.9, 15.6.3, 15.6.5; Cloudflare's 52x). */
const UNDECIDED: ReadonlySet<number> = new Set([408, 502, 504, 520, 522, 524]);

const wasNotReached = ({ kind }: Failed, { resent, unsent }: Sendings): boolean =>
  // After a request was sent twice, the outcome of the first one is unknown.
  resent !== true && (unsent === true || NOT_REACHED.has(kind));

/** True if the receiver may have executed the request: the answer is missing, unreadable or undecided. */
export const mayBeDone = (attempt: FailedAttempt): boolean => {
  const { failure, status_code, resent } = attempt;
  if (wasNotReached(failure, attempt)) return false;
  if (resent === true) return true;
  const isRefusal = failure.kind === "http-4xx" || failure.kind === "http-5xx";
  return !isRefusal || status_code === null || UNDECIDED.has(status_code);
};

/** Null while nothing has reached the receiver. An attempt that reports no cost keeps the cost reported before. */
export const reachedAfter = (
  before: Reached | null,
  attempt: Sendings & { readonly cost_reported?: number | null },
  failure: Failed | null,
): Reached | null =>
  failure !== null && wasNotReached(failure, attempt)
    ? before
    : { reported: attempt.cost_reported ?? before?.reported ?? null };

export const spentOnStep = (
  request: Pick<Request, "cost">,
  reached: Reached | null,
  outcome: StepOutcome,
): number | null => spentBy(outcome === "failed" ? { cost: 0 } : request, reached);

type Determined = Extract<DeliveryEvent, { type: "CostDetermined" }>;

const spentBy = ({ cost: estimate }: Pick<Request, "cost">, reached: Reached | null): number | null =>
  reached === null ? null : (reached.reported ?? estimate ?? 0);

/**
 * Empty if the admission or the release has already spent the places, or if no cost was estimated or reported. A sample has no
 * places, but its estimate is not spent either if it is never released.
 */
export const costDetermined = (request: Request, reached: Reached | null, at: string): readonly Determined[] => {
  const { event_id, origin, ledgers, cost: estimate } = request;
  if (origin.kind === "source" && ledgers === undefined && reached !== null) return [];
  const reported = reached?.reported ?? null;
  if (ledgers === undefined && estimate === null && reported === null) return [];
  const basis = reached === null ? "not-reached" : reported === null ? "estimate" : "reported";
  const cost = spentBy(request, reached);
  return [{ type: "CostDetermined", data: { event_id, ledgers: ledgers ?? [], estimate, cost, basis, at } }];
};

/** Replays repeat the webhook-id and have no second effect, so only the reported cost beyond `counted` is added. */
export const costOnTop = (
  { event_id, verdict }: Request,
  replay: { readonly id: string; readonly counted: number },
  reached: Reached | null,
  at: string,
): readonly Determined[] => {
  const reported = reached?.reported ?? null;
  const { id: replay_id, counted } = replay;
  if (reported === null || reported <= counted) return [];
  const about = { event_id, ledgers: [], estimate: 0, cost: reported - counted, basis: "reported" } as const;
  return [
    {
      type: "CostDetermined",
      data: { ...about, counted, replay_id, policy_ids: policiesOf(verdict).map(({ id }) => id), at },
    },
  ];
};
