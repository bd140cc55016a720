import { policiesOf } from "../gate/verdict.ts";
import type { DeliveryEvent, FailureKind, Request, StepOutcome } from "./events.ts";

/** The receiver may have done what it was asked. `reported`: what it said of the cost last, in micro-euros; null for nothing. */
export type Reached = { readonly reported: number | null };

type Failed = { readonly kind: FailureKind };
/** How often it went out, where that is not once. */
type Sendings = { readonly resent?: true; readonly unsent?: true };
type FailedAttempt = Sendings & { readonly failure: Failed; readonly status_code: number | null };

/** An attempt whose outcome nobody has seen. */
export const UNSEEN: Reached = { reported: null };

/** With these nothing of the request has left this machine, or nobody has read it. */
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
 * With these of its answers a receiver, or a gateway before it, says that it does not know what became of the request: RFC
 * 9110, sections 15.5.9, 15.6.3 and 15.6.5, and of Cloudflare ("5xx errors") those behind which the request may have been
 * passed on: 520 (the answer makes no sense, or broke off), 522 and 524 (it was not acknowledged, or not answered, in time).
 */
const UNDECIDED: ReadonlySet<number> = new Set([408, 502, 504, 520, 522, 524]);

const wasNotReached = ({ kind }: Failed, { resent, unsent }: Sendings): boolean =>
  // Of two requests nobody knows what became of the first.
  resent !== true && (unsent === true || NOT_REACHED.has(kind));

/**
 * An attempt that failed so may have done what it was asked all the same: its answer is missing, cannot be read, or says
 * nothing about it.
 */
export const mayBeDone = (attempt: FailedAttempt): boolean => {
  const { failure, status_code, resent } = attempt;
  if (wasNotReached(failure, attempt)) return false;
  // Whatever was said to the second of them.
  if (resent === true) return true;
  const isRefusal = failure.kind === "http-4xx" || failure.kind === "http-5xx";
  return !isRefusal || status_code === null || UNDECIDED.has(status_code);
};

/** What is known behind one more attempt, which takes back nothing by saying nothing; `failure` is null for one that succeeded. */
export const reachedAfter = (
  before: Reached | null,
  attempt: Sendings & { readonly cost_reported?: number | null },
  failure: Failed | null,
): Reached | null =>
  failure !== null && wasNotReached(failure, attempt)
    ? before
    : { reported: attempt.cost_reported ?? before?.reported ?? null };

/** As `spentBy`, of a bundle's step or undo: what was refused was done for nothing, unless its receiver says otherwise. */
export const spentOnStep = (
  request: Pick<Request, "cost">,
  reached: Reached | null,
  outcome: StepOutcome,
): number | null => spentBy(outcome === "failed" ? { cost: 0 } : request, reached);

type Determined = Extract<DeliveryEvent, { type: "CostDetermined" }>;

/** What the receiver said last, else the estimate; null where nothing can have reached it. */
const spentBy = ({ cost: estimate }: Pick<Request, "cost">, reached: Reached | null): number | null =>
  reached === null ? null : (reached.reported ?? estimate ?? 0);

/**
 * What a request has cost that ends so. No record of one whose places were spent by its admission, or that nobody can say anything about.
 */
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
 * What a replay has cost beyond what its request was counted for before: only what its receiver says now, as the same
 * webhook-id has no second effect. No record where that is nothing.
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
