import { delivery } from "../../domain/delivery/decider.ts";
import type { DeliveryEvent, Request } from "../../domain/delivery/events.ts";
import { wasReplayedBy } from "../../domain/delivery/replay.ts";
import { type Delivery, erasedUpTo, isAdmitted, isClaimed } from "../../domain/delivery/state.ts";
import { approvalBinding } from "../approvals/approval-binding.ts";
import type { Deliverer } from "../delivery/deliverer.ts";
import type { IncomingRequest } from "../gates/incoming-request.ts";
import type { StreamState } from "../streams/run-command.ts";
import { ClaimLoop, type ClaimLoopDeps, type ClaimResult } from "./claim-loop.ts";
import type { Claimable } from "./claim-subject.ts";
import { incomingOf, jobOf, requestOf, subjectOf } from "./event-request.ts";
import { type Gated, Judge, type JudgeDeps, type Judgement } from "./judge.ts";
import { judgingOf } from "./judge-request.ts";

export type ClaimDeps = JudgeDeps &
  ClaimLoopDeps & {
    readonly deliver: Pick<Deliverer, "offer">;
  };

export type EventClaimResult = ClaimResult<Delivery, Judgement>;

/** `gated` is what the gates that take no places have just answered; they are asked if it is left out. */
export type Claim = (it: IncomingRequest, from: StreamState<Delivery>, gated?: Gated) => Promise<EventClaimResult>;

export const UNKNOWN: StreamState<Delivery> = { state: delivery.initial, revision: null };

const isDecided = ({ replay }: IncomingRequest, state: Delivery): boolean =>
  isClaimed(state) || (replay !== undefined && wasReplayedBy(state, replay.id));

export const claiming = (deps: ClaimDeps): Claim => {
  const judge = new Judge(deps);
  const claims = new ClaimLoop(deps);
  const binding = approvalBinding(deps);

  const claimable = (it: IncomingRequest, gated?: Gated): Claimable<Delivery, DeliveryEvent, Request, Judgement> => {
    let known = gated;
    return {
      ...subjectOf(it),
      decider: delivery,
      erasedUpTo,
      isClaimed: (state) => isDecided(it, state),
      stream: `delivery-${it.eventId}`,
      incoming: () => incomingOf(it),
      judge: (places = "take") => {
        const first = known;
        // "ask" is followed by another question, for the same verdict.
        if (places === "take") known = undefined;
        return first === undefined ? judge.judge(judgingOf(deps, it), places) : judge.count(first, places);
      },
      requestOf: (decided) => requestOf(it, decided),
      bind: (request) => binding.ofEvent(it.account, request),
    };
  };

  const offer = (it: IncomingRequest, known: StreamState<Delivery>): void => {
    const job = jobOf(it);
    if (job !== null && isAdmitted(known.state)) deps.deliver.offer({ ...job, known });
  };

  return async (it, from, gated) => {
    const claimed = await claims.claim(claimable(it, gated), from);
    if (claimed.outcome === "claimed") offer(it, claimed.known);
    return claimed;
  };
};
