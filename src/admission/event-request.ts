import { iso } from "../../domain/calendar.ts";
import type { Request } from "../../domain/delivery/events.ts";
import type { LeasableJob } from "../delivery/admission-lease.ts";
import type { IncomingRequest } from "../gates/incoming-request.ts";
import type { Incoming } from "../streams/payloads.ts";
import type { ClaimSubject, RecordedVerdict } from "./claim-subject.ts";

type Draft<T> = { -readonly [Name in keyof T]: T[Name] };

/** Optional members are assigned one by one, which is ten times as fast as spreading them for each webhook. */
export const requestOf = (
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
    authenticated_at: iso(it.authenticatedAt),
    at,
  };
  if (it.asked !== null) {
    request.action = it.asked.action;
    request.run = it.asked.run;
  }
  if (ledgers !== undefined) request.ledgers = ledgers;
  if (it.replay !== undefined) request.replay = it.replay;
  if (it.sample !== undefined) request.sample = it.sample;
  return request;
};

export const incomingOf = ({ body, text, contentType, contentEncoding, shownHeaders }: IncomingRequest): Incoming => ({
  body,
  text,
  contentType,
  contentEncoding,
  headers: shownHeaders(),
});

export const subjectOf = (it: IncomingRequest): ClaimSubject => {
  const { eventId: id, account, origin, trace, receivedAt, askedAt, replay, sample, kept, asked } = it;
  return { id, account, origin, trace, receivedAt, askedAt, replay, sample, kept, endsLater: asked !== null };
};

/** Null if the event is only recorded. */
export const jobOf = (it: IncomingRequest): LeasableJob | null => {
  const { eventId, account, endpointId, trace, body, contentType, contentEncoding } = it;
  if (endpointId === null) return null;
  return { kind: "due", eventId, account, endpointId, trace, body, contentType, contentEncoding };
};
