import { policiesOf } from "../gate/verdict.ts";
import type { DeliveryEvent, FailureKind, Request, StepOutcome } from "./events.ts";

/** The receiver may have executed the request. `reported`: the cost it reported last, in micro-euros; null if none. */
export type Reached = { readonly reported: number | null };

type Failed = { readonly kind: FailureKind };
/** `resent` and `unsent` of `AttemptEnd`. */
type Sendings = { readonly resent?: true; readonly unsent?: true };
type FailedAttempt = Sendings & { readonly failure: Failed; readonly status_code: number | null };

/** An attempt without a known outcome. */
export const UNSEEN: Reached = { reported: null };

/** Failures before the request can have reached its receiver. */
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

/**
 * Statuses with which a receiver, or a gateway in front of it, says that the outcome is unknown: RFC 9110, sections
 * 15.5.9, 15.6.3 and 15.6.5; Cloudflare's 520, 522 and 524, after which the request may have been passed on.
 */
const UNDECIDED: ReadonlySet<number> = new Set([408, 502, 504, 520, 522, 524]);

const wasNotReached = ({ kind }: Failed, { resent, unsent }: Sendings): boolean =>
  // Of two requests nobody knows what became of the first.
  resent !== true && (unsent === true || NOT_REACHED.has(kind));

/** True if a failed attempt may have had its effect: its answer is missing, unreadable, or does not tell. */
export const mayBeDone = (attempt: FailedAttempt): boolean => {
  const { failure, status_code, resent } = attempt;
  if (wasNotReached(failure, attempt)) return false;
  // Whatever was said to the second of them.
  if (resent === true) return true;
  const isRefusal = failure.kind === "http-4xx" || failure.kind === "http-5xx";
  return !isRefusal || status_code === null || UNDECIDED.has(status_code);
};

/** An attempt without a reported cost keeps the one reported before. `failure` is null for a success. */
export const reachedAfter = (
  before: Reached | null,
  attempt: Sendings & { readonly cost_reported?: number | null },
  failure: Failed | null,
): Reached | null =>
  failure !== null && wasNotReached(failure, attempt)
    ? before
    : { reported: attempt.cost_reported ?? before?.reported ?? null };

/** A refused step costs nothing unless its receiver reported a cost. */
export const spentOnStep = (
  request: Pick<Request, "cost">,
  reached: Reached | null,
  outcome: StepOutcome,
): number | null => spentBy(outcome === "failed" ? { cost: 0 } : request, reached);

type Determined = Extract<DeliveryEvent, { type: "CostDetermined" }>;

/** The last reported cost, else the estimate; null if nothing can have reached the receiver. */
const spentBy = ({ cost: estimate }: Pick<Request, "cost">, reached: Reached | null): number | null =>
  reached === null ? null : (reached.reported ?? estimate ?? 0);

/** Empty if the admission has spent the places, or if nothing is known about the cost. */
export const costDetermined = (request: Request, reached: Reached | null, at: string): readonly Determined[] => {
  const { event_id, origin, ledgers, cost: estimate } = request;
  if (origin.kind === "source" && ledgers === undefined) return [];
  const reported = reached?.reported ?? null;
  if (ledgers === undefined && estimate === null && reported === null) return [];
  const basis = reached === null ? "not-reached" : reported === null ? "estimate" : "reported";
  const cost = spentBy(request, reached);
  return [{ type: "CostDetermined", data: { event_id, ledgers: ledgers ?? [], estimate, cost, basis, at } }];
};

/**
 * Only the reported cost beyond what was counted before: the same webhook-id has no second effect. Empty if there is
 * none.
 */
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
