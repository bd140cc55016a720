import { accept, type Decider, reject } from "../decider.ts";
import { sameTarget } from "../endpoint/target.ts";
import type { Claimant, DeliveryCommand, DeliveryRejection } from "./commands.ts";
import { mayBeDone, reachedAfter } from "./cost.ts";
import { erasedWith } from "./erased.ts";
import type { DeliveryEvent } from "./events.ts";
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
  knownSoFar,
  outcomeWithout,
  released,
} from "./hold.ts";
import { decideReplay, hasGivenBack, inReplays, replayed, replayField, replayIdOf } from "./replay.ts";
import { type AdmittedDelivery, type Delivery, erasedUpTo, isClaimed, type StepEnd, UNDECIDED } from "./state.ts";

type Deciding = Extract<DeliveryCommand, { type: "Admit" | "Block" | "Hold" }>;

const decisionOf = (command: Deciding): DeliveryEvent => {
  if (command.type === "Hold") return { type: "EventHeld", data: { ...command.request, approval: command.approval } };
  return { type: command.type === "Admit" ? "EventAdmitted" : "EventBlocked", data: command.request };
};

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
