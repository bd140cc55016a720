import { delivery } from "../../domain/delivery/decider.ts";
import type { DeliveryEvent, Request } from "../../domain/delivery/events.ts";
import { wasReplayedBy } from "../../domain/delivery/replay.ts";
import { type Delivery, erasedUpTo, isAdmitted, isClaimed } from "../../domain/delivery/state.ts";
import { approvalBinding } from "../approvals/approval-binding.ts";
import type { Deliverer } from "../delivery/deliverer.ts";
import type { IncomingRequest } from "../gates/incoming-request.ts";
import type { StreamState } from "../streams/run-command.ts";
import { ClaimLoop, type ClaimLoopDeps, type ClaimResult } from "./claim-loop.ts";
import type { Claimable, RecordedVerdict } from "./claim-subject.ts";
import type { JudgeDeps, Judgement } from "./judge.ts";
import { judgement } from "./judge-request.ts";

export type ClaimDeps = JudgeDeps &
  ClaimLoopDeps & {
    readonly deliver: Pick<Deliverer, "offer">;
  };

export type EventClaimResult = ClaimResult<Delivery, Judgement>;

export type Claim = (it: IncomingRequest, from: StreamState<Delivery>) => Promise<EventClaimResult>;

export const UNKNOWN: StreamState<Delivery> = { state: delivery.initial, revision: null };

type Draft<T> = { -readonly [Name in keyof T]: T[Name] };

/** Optional members are assigned one by one, which is ten times as fast as spreading them for each webhook. */
const requestOf = (
  it: IncomingRequest,
  { payload, verdict, cost, ledgers, received_at, at }: RecordedVerdict,
): Request => {
  const request: Draft<Request> = {
    event_id: it.eventId,
    origin: it.origin,
    delivery_key: it.deliveryKey,
    type: it.eventType,
    payload,
    endpoint_id: it.endpointId,
    verdict,
    cost,
    received_at,
    authenticated_at: new Date(it.authenticatedAt).toISOString(),
    at,
  };
  if (it.asked !== null) {
    request.action = it.asked.action;
    request.run = it.asked.run;
  }
  if (ledgers !== undefined) request.ledgers = ledgers;
  if (it.replay !== undefined) request.replay = it.replay;
  return request;
};

const isDecided = ({ replay }: IncomingRequest, state: Delivery): boolean =>
  isClaimed(state) || (replay !== undefined && wasReplayedBy(state, replay.id));

export const claiming = (deps: ClaimDeps): Claim => {
  const judge = judgement(deps);
  const claims = new ClaimLoop(deps);
  const binding = approvalBinding(deps);

  const claimable = (it: IncomingRequest): Claimable<Delivery, DeliveryEvent, Request, Judgement> => {
    const { eventId, account, origin, trace, receivedAt, body, contentType, contentEncoding } = it;
    return {
      account,
      origin,
      trace,
      receivedAt,
      decider: delivery,
      erasedUpTo,
      isClaimed: (state) => isDecided(it, state),
      id: eventId,
      stream: `delivery-${eventId}`,
      incoming: () => ({ body, contentType, contentEncoding, headers: it.shownHeaders() }),
      endsLater: it.asked !== null,
      judge: (places) => judge(it, places),
      requestOf: (decided) => requestOf(it, decided),
      bind: (request) => binding.ofEvent(account, request),
      replay: it.replay,
      askedAt: it.askedAt,
      kept: it.kept,
    };
  };

  const offer = (it: IncomingRequest, known: StreamState<Delivery>): void => {
    if (it.endpointId === null || !isAdmitted(known.state)) return;
    const { eventId, account, endpointId, trace, body, contentType, contentEncoding } = it;
    deps.deliver.offer({ kind: "due", eventId, account, endpointId, trace, known, body, contentType, contentEncoding });
  };

  return async (it, from) => {
    const claimed = await claims.claim(claimable(it), from);
    if (claimed.outcome === "claimed") offer(it, claimed.known);
    return claimed;
  };
};
