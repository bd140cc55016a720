import { accept, type Decider, reject } from "../decider.ts";
import { sameTarget, type Target } from "../endpoint/target.ts";
import { mayBeDone, type Reached, reachedAfter } from "./cost.ts";
import { type Erased, erasedWith } from "./erased.ts";
import type {
  AttemptEnd,
  Bound,
  DeliveryEvent,
  Failure,
  HeldFor,
  HoldOutcome,
  Request,
  StepOutcome,
} from "./events.ts";
import {
  decideCancel,
  decideEndHold,
  decideHoldAgain,
  decideRelease,
  endedAs,
  endedWith,
  eventCancelled,
  heldAgain,
  holdOver,
  holdWithdrawn,
  isClaimed,
  knownSoFar,
  outcomeWithout,
  released,
} from "./hold.ts";
import {
  decideReplay,
  hasGivenBack,
  type InReplays,
  inReplays,
  type ReplayCommand,
  type Replaying,
  type ReplayRejection,
  replayed,
  replayField,
  replayIdOf,
} from "./replay.ts";

type Lease = { readonly number: number; readonly node: string; readonly until: string };

/** The terms of an approval, and when it was asked for. */
export type Hold = { readonly approval: HeldFor; readonly heldAt: string };

export type HeldDelivery = InReplays & {
  readonly phase: "held";
  readonly request: Request;
  readonly approval: HeldFor;
  /** ISO-8601 UTC. */
  readonly heldAt: string;
  /** The delivery as it was when it was held again at an attempt; missing where it was never released. */
  readonly before?: AdmittedDelivery;
  /** The same as in an admitted delivery. */
  readonly paid?: Paid;
  readonly erased: boolean;
};

/** What a bundle's step came to, and what it has cost in micro-euros; missing as long as it has not ended, and of what is no step. */
type StepEnd = {
  readonly outcome: StepOutcome;
  readonly cost: number | null;
  /** The receiver has said so. */
  readonly reported?: true;
  /** It was cancelled before any attempt. */
  readonly neverSent?: true;
};

/** What was spent of the places that it held, which stays so whatever is replayed later. Micro-euros. */
export type Paid = { readonly ledgers: readonly string[]; readonly cost: number };

export type AdmittedDelivery = InReplays & {
  readonly phase: "admitted";
  readonly request: Request;
  /** Later than the request was decided on when it had to be released. */
  readonly admittedAt: string;
  /** The approval that released it; null when none was needed. */
  readonly approvalId: string | null;
  /** What `approvalId` was asked for with; missing without an approval. */
  readonly hold?: Hold;
  /** The approvals that had released it before that one, as it was held again; missing for none. */
  readonly usedApprovals?: readonly string[];
  readonly attempts: number;
  /** How many of them were probes since it was admitted or replayed: these use nothing of its schedule up. */
  readonly probes?: number;
  /** Set between the start of an attempt and its end; past `until` its outcome is unknown and it may be tried again. */
  readonly lease: Lease | null;
  /** When the next attempt is due; null once there is none to come. */
  readonly dueAt: string | null;
  readonly end: "recorded" | "delivered" | "failed" | null;
  /** There is nothing left to send. */
  readonly erased: boolean;
  /** Why nothing may follow the attempt that runs; null as long as it may. */
  readonly cancelling: string | null;
  /** Whether the receiver may have got it; null as long as that is out of the question. */
  readonly reached: Reached | null;
  /** An attempt has ended that may have done what it was asked, and nobody knows. */
  readonly mayBeDone: boolean;
  /** Micro-euros that it has cost in the end; null when it was for nothing, missing until it is known here. */
  readonly spent?: number | null;
  /** Missing as long as no place was spent. */
  readonly paid?: Paid;
  readonly stepEnd?: StepEnd;
  /** The last replay, as long as it was not decided on again. */
  readonly replay?: Replaying;
};

/** Blocked, or abandoned half-way: may be decided again. */
type Undecided = InReplays & {
  readonly phase: "undecided";
  readonly last: Request | null;
  /** What of its payloads must not be used again; missing for nothing. */
  readonly erasedUpTo?: Erased;
};

export type Delivery =
  | { readonly phase: "absent" }
  | Undecided
  | HeldDelivery
  /** Without having been delivered, by people or by time: whatever is asked of it, nothing is sent any more. */
  | (InReplays & {
      readonly phase: "ended";
      readonly request: Request;
      readonly end: HoldOutcome;
      /** The approval that had released it before; null when none had. */
      readonly approvalId: string | null;
      /** The same as in an admitted delivery. */
      readonly usedApprovals?: readonly string[];
      /** The approval for which it was held when it ended; missing where it was not. */
      readonly heldFor?: string;
      /** Begun before it was cancelled. */
      readonly attempts: number;
      /** These two as of an admitted one. */
      readonly spent?: number | null;
      readonly paid?: Paid;
      readonly stepEnd?: StepEnd;
      /** Micro-euros that its receiver was paid for before the replay in which it was cancelled; missing for none. */
      readonly counted?: number;
    })
  | AdmittedDelivery;

/** The process that wants to act on a delivery for which another process may hold a lease. */
type Claimant = {
  readonly node: string;
  /** Every other process is known to be gone, so its lease is over. */
  readonly othersAreGone: boolean;
  readonly at: string;
};

export type DeliveryCommand =
  | { readonly type: "Admit"; readonly request: Request }
  | { readonly type: "Block"; readonly request: Request }
  | { readonly type: "Abandon"; readonly eventId: string; readonly at: string }
  | { readonly type: "Hold"; readonly request: Request; readonly approval: HeldFor }
  /**
   * What an approval of it is bound to is no longer what would be sent. `bound`: what the new one is bound to. `approvalId`:
   * the approval that this was found for; if it is another one by now, nothing is left to do.
   */
  | ({
      readonly type: "HoldAgain";
      readonly approvalId: string;
      readonly bound: Bound;
      readonly approval: HeldFor;
    } & Claimant)
  | { readonly type: "Release"; readonly approvalId: string; readonly digest: string; readonly at: string }
  /** Of the end of an approval, or, without its id, of whatever it is held for. */
  | {
      readonly type: "EndHold";
      readonly approvalId?: string;
      readonly outcome: HoldOutcome;
      readonly reason: string;
      readonly at: string;
    }
  /**
   * Ends it wherever it stands; of an attempt that runs the outcome is awaited. `underWay`: this process is sending it, so
   * its lease is not over, whatever a clock that was set says.
   */
  | { readonly type: "Cancel"; readonly reason: string; readonly at: string; readonly underWay?: boolean }
  | ({
      readonly type: "StartAttempt";
      readonly endpointId: string;
      /** Where it would be sent; without it nothing starts that an approval has bound to a target. */
      readonly target?: Target;
      readonly trigger: "auto" | "replay";
      readonly leaseUntil: string;
      /** Also before it is due: to find out how its endpoint is, or in its turn once that is well again. */
      readonly early?: "probe" | "turn";
    } & Claimant)
  | { readonly type: "Succeed"; readonly end: AttemptEnd & { readonly status_code: number } }
  | {
      readonly type: "Fail";
      readonly end: AttemptEnd;
      readonly failure: Failure;
      readonly retryable: boolean;
      /** Null when no attempt follows. */
      readonly nextAttemptAt: string | null;
    }
  /**
   * Ends a delivery for which nothing can be sent. Refused as "leased" while another attempt may still succeed. `inReplay`:
   * the replay, null for none, in which that was found; refused if the event was replayed since. Left out: not compared.
   */
  | ({ readonly type: "GiveUp"; readonly failure: Failure; readonly inReplay?: string | null } & Claimant)
  | ReplayCommand;

export type DeliveryRejection =
  | "already-admitted"
  | "not-admitted"
  | "not-held"
  | "digest-mismatch"
  | "already-ended"
  | "not-due"
  | "leased"
  | "payload-erased"
  | "lease-lost"
  | "target-changed"
  | ReplayRejection;

type Deciding = Extract<DeliveryCommand, { type: "Admit" | "Block" | "Hold" }>;

const decisionOf = (command: Deciding): DeliveryEvent => {
  if (command.type === "Hold") return { type: "EventHeld", data: { ...command.request, approval: command.approval } };
  return { type: command.type === "Admit" ? "EventAdmitted" : "EventBlocked", data: command.request };
};

const UNDECIDED: Undecided = { phase: "undecided", last: null };

/** Up to where the payloads of what is decided anew must not be used. */
export const erasedUpTo = (state: Delivery): Erased =>
  state.phase === "undecided" ? (state.erasedUpTo ?? null) : null;

const ended = (state: Delivery): boolean => state.phase !== "admitted" || state.end !== null;

/**
 * Admitted, released or replayed, and not tried since, it is due at once: on a clock that was set back it would wait until
 * that has caught up, behind all that came later.
 */
const isDue = (dueAt: string, { admittedAt, replay }: AdmittedDelivery, at: string): boolean =>
  dueAt <= at || dueAt === admittedAt || dueAt === replay?.at;

const isLeased = ({ lease }: AdmittedDelivery, { node, othersAreGone, at }: Claimant): boolean =>
  lease !== null && (lease.node === node || !othersAreGone) && lease.until > at;

export const delivery: Decider<Delivery, DeliveryCommand, DeliveryEvent, DeliveryRejection> = {
  initial: { phase: "absent" },

  evolve(state, event) {
    switch (event.type) {
      case "EventAdmitted": {
        const waits = event.data.endpoint_id !== null;
        return {
          phase: "admitted",
          ...inReplays(state, event.data.replay?.id),
          request: event.data,
          admittedAt: event.data.at,
          approvalId: null,
          attempts: 0,
          lease: null,
          dueAt: waits ? event.data.at : null,
          end: waits ? null : "recorded",
          erased: false,
          cancelling: null,
          reached: null,
          mayBeDone: false,
        };
      }
      case "EventHeld": {
        const { approval, ...request } = event.data;
        const hold = { approval, heldAt: request.at };
        return { phase: "held", ...inReplays(state, request.replay?.id), request, ...hold, erased: false };
      }
      case "EventHeldAgain":
        return state.phase === "held" || state.phase === "admitted" ? heldAgain(state, event.data) : state;
      case "EventReleased":
        return state.phase === "held" ? released(state, event.data) : state;
      case "HoldWithdrawn":
        return state.phase === "held" && state.before !== undefined ? { ...state.before, erased: state.erased } : state;
      case "HoldEnded":
        return state.phase === "held" ? holdOver(state, event.data.outcome) : state;
      case "CancellationRequested":
        return state.phase === "admitted" ? { ...state, cancelling: event.data.reason } : state;
      case "EventCancelled":
        return state.phase === "admitted" ? endedAs(state, "cancelled") : state;
      case "EventBlocked":
        return {
          ...(state.phase === "undecided" ? state : UNDECIDED),
          ...inReplays(state, event.data.replay?.id),
          last: event.data,
        };
      case "AdmissionAbandoned":
        if (isClaimed(state)) return state;
        return state.phase === "undecided" ? state : UNDECIDED;
      case "AttemptStarted": {
        if (state.phase !== "admitted") return state;
        const { number, node, lease_until: until, probe } = event.data;
        const { reached, outcome } = knownSoFar(state);
        const lease = { number, node, until };
        const probes = (state.probes ?? 0) + (probe === true ? 1 : 0);
        const known = { reached, mayBeDone: outcome === "unknown" };
        return { ...state, ...known, attempts: number, probes, lease, dueAt: until };
      }
      case "AttemptFailed":
        if (state.phase !== "admitted") return state;
        return {
          ...state,
          lease: null,
          dueAt: event.data.next_attempt_at,
          reached: reachedAfter(state.reached, event.data, event.data.failure),
          mayBeDone: state.mayBeDone || mayBeDone(event.data),
        };
      case "AttemptSucceeded":
        if (state.phase !== "admitted") return state;
        return { ...state, lease: null, dueAt: null, reached: reachedAfter(state.reached, event.data, null) };
      case "CostDetermined": {
        const { ledgers, cost: spent } = event.data;
        const paid = spent === null || ledgers.length === 0 ? {} : { paid: { ledgers, cost: spent } };
        return state.phase === "admitted" || state.phase === "ended" ? { ...state, spent, ...paid } : state;
      }
      case "BundleStepEnded": {
        const { outcome, cost, reported, never_sent } = event.data;
        const stepEnd: StepEnd = {
          ...{ outcome, cost },
          ...(reported === undefined ? {} : { reported }),
          ...(never_sent === undefined ? {} : { neverSent: never_sent }),
        };
        return state.phase === "admitted" || state.phase === "ended" ? { ...state, stepEnd } : state;
      }
      case "EventDelivered":
        return state.phase === "admitted" ? { ...state, dueAt: null, end: "delivered" } : state;
      case "DeliveryFailed":
        return state.phase === "admitted" ? { ...state, dueAt: null, end: "failed" } : state;
      case "EventReplayed":
        return state.phase === "admitted" ? replayed(state, event.data) : state;
      case "PayloadErased":
        if (state.phase === "undecided") return { ...state, erasedUpTo: erasedWith(erasedUpTo(state), event.data) };
        return state.phase === "admitted" || state.phase === "held" ? { ...state, erased: true } : state;
      default:
        // Counts change nothing that is decided here.
        return state;
    }
  },

  decide(command, state) {
    switch (command.type) {
      case "Admit":
      case "Block":
      case "Hold":
        return isClaimed(state) ? reject("already-admitted") : accept(decisionOf(command));

      case "HoldAgain":
        return decideHoldAgain(command, state, (admitted) => isLeased(admitted, command));
      case "Release":
        return decideRelease(command, state);
      case "EndHold":
        return decideEndHold(command, state);
      case "Cancel":
        return decideCancel(command, state);

      case "Abandon":
        // The replay of a request that gave its places back reserves them before its record, so it is fenced like an admission.
        if (isClaimed(state) && !hasGivenBack(state)) return reject("already-admitted");
        return accept({ type: "AdmissionAbandoned", data: { event_id: command.eventId, at: command.at } });

      case "StartAttempt": {
        if (state.phase !== "admitted") return reject("not-admitted");
        if (state.end !== null || state.dueAt === null) return reject("already-ended");
        if (isLeased(state, command)) return reject("leased");
        if (state.erased) return reject("payload-erased");
        if (state.lease === null && !isDue(state.dueAt, state, command.at) && command.early === undefined)
          return reject("not-due");
        // Nobody has seen the end of the attempt that the cancellation waited for.
        if (state.cancelling !== null) return accept(...eventCancelled(state, state.cancelling, command.at));
        const approved = state.request.bound?.target ?? null;
        if (approved !== null && (command.target === undefined || !sameTarget(approved, command.target)))
          return reject("target-changed");
        return accept({
          type: "AttemptStarted",
          data: {
            event_id: state.request.event_id,
            endpoint_id: command.endpointId,
            number: state.attempts + 1,
            trigger: command.trigger,
            node: command.node,
            lease_until: command.leaseUntil,
            ...(approved === null ? {} : { target: approved }),
            ...(command.early === "probe" ? { probe: true as const } : {}),
            at: command.at,
          },
        });
      }

      case "Succeed": {
        // Even of an attempt whose lease has passed: the receiver has answered that it has the event.
        const admitted = state.phase === "held" ? state.before : state;
        if (admitted?.phase !== "admitted") return reject("not-admitted");
        if (ended(admitted)) return reject("already-ended");
        const { event_id, endpoint_id, at } = command.end;
        const reached = reachedAfter(admitted.reached, command.end, null);
        return accept<DeliveryEvent>(
          ...(state.phase === "held" ? [holdWithdrawn(state, at)] : []),
          { type: "AttemptSucceeded", data: command.end },
          {
            type: "EventDelivered",
            data: {
              event_id,
              endpoint_id,
              admitted_at: admitted.replay?.at ?? admitted.admittedAt,
              ...replayField(admitted),
              at,
            },
          },
          ...endedWith(admitted, { reached, outcome: "succeeded" }, at),
        );
      }

      case "Fail": {
        if (state.phase !== "admitted") return reject("not-admitted");
        if (ended(state)) return reject("already-ended");
        const { end, failure, retryable } = command;
        if (state.lease?.number !== end.number) return reject("lease-lost");
        const failed = (nextAt: string | null): DeliveryEvent => ({
          type: "AttemptFailed",
          data: { ...end, failure, retryable, next_attempt_at: nextAt },
        });
        const known = {
          reached: reachedAfter(state.reached, end, failure),
          outcome: outcomeWithout(state.mayBeDone || mayBeDone({ ...end, failure })),
        };
        if (command.nextAttemptAt !== null) {
          if (state.cancelling === null) return accept(failed(command.nextAttemptAt));
          return accept(failed(null), ...eventCancelled(state, state.cancelling, end.at, known));
        }
        const { event_id, endpoint_id, at } = end;
        return accept<DeliveryEvent>(
          failed(null),
          { type: "DeliveryFailed", data: { event_id, endpoint_id, failure, ...replayField(state), at } },
          ...endedWith(state, known, at),
        );
      }

      case "GiveUp": {
        if (state.phase !== "admitted") return reject("not-admitted");
        if (ended(state)) return reject("already-ended");
        // The attempt may succeed. When its lease has ended, the command is given again.
        if (isLeased(state, command)) return reject("leased");
        // The endpoint or payload that was missing may have been restored before the replay.
        if (command.inReplay !== undefined && command.inReplay !== (replayIdOf(state) ?? null))
          return reject("in-progress");
        const { event_id, endpoint_id } = state.request;
        return accept<DeliveryEvent>(
          {
            type: "DeliveryFailed",
            data: {
              event_id,
              endpoint_id: endpoint_id ?? "",
              failure: command.failure,
              ...replayField(state),
              at: command.at,
            },
          },
          ...endedWith(state, knownSoFar(state), command.at),
        );
      }

      case "Replay":
        return decideReplay(command, state);
    }
  },
};
