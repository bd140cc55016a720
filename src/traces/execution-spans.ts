import type { DeliveryEvent, Request } from "../../domain/delivery/events.ts";
import { eventOf } from "../../domain/events.ts";
import type { RecordedEvent } from "../../domain/ports/event-log.ts";
import type { Span, SpanEvent } from "../../domain/ports/span-exporter.ts";
import { attemptSpan, END_UNKNOWN, executionSpan, replaySpan } from "./conventions.ts";
import { authentication, gatesAsked, holdSpanOf } from "./decision-spans.ts";
import { attemptSpanId, childOf, type Root, spanIdOf, withRoot } from "./span.ts";

const ms = (at: string): number => Date.parse(at);

type Recorded = Pick<RecordedEvent, "meta"> & DeliveryEvent;
type Decision = Extract<Recorded, { type: "EventAdmitted" | "EventBlocked" | "EventHeld" }>;
type AttemptStart = Extract<DeliveryEvent, { type: "AttemptStarted" }>["data"];
type AttemptEnd = Extract<DeliveryEvent, { type: "AttemptSucceeded" | "AttemptFailed" }>;
type Replayed = Extract<DeliveryEvent, { type: "EventReplayed" }>;

export const DECISIONS: ReadonlySet<string> = new Set<Decision["type"]>(["EventAdmitted", "EventBlocked", "EventHeld"]);

const isDecision = (record: Recorded): record is Decision => DECISIONS.has(record.type);

/** A notification's span has no parent, because the request that it is about may have no span. */
const topOf = ({ meta, data }: Decision): Pick<Span, "spanId" | "parentId" | "kind"> => {
  const { span_id: spanId, parent_span_id: parentId = null } = meta;
  const { event_id, origin, bundle } = data;
  if (bundle === undefined && origin.kind !== "system") return { spanId, parentId, kind: "server" };
  return { spanId: spanIdOf(event_id, "root"), parentId: bundle === undefined ? null : spanId, kind: "internal" };
};

const attempt = (root: Root, begun: AttemptStart, ended: AttemptEnd | null, until: string): Span => {
  const { event_id, number, endpoint_id: endpointId, trigger, at } = begun;
  const failure = ended?.type === "AttemptFailed" ? ended.data.failure : null;
  const about = { number, endpointId, trigger, statusCode: ended?.data.status_code ?? null, failure };
  return childOf(root, [], {
    ...attemptSpan(about),
    kind: "client",
    spanId: attemptSpanId(event_id, number),
    startMs: ms(at),
    endMs: ms(until),
    error: ended === null ? END_UNKNOWN : (failure?.kind ?? null),
  });
};

/** The span of an attempt whose process died ends when the next attempt starts, or at the time `last`. */
const attemptSpans = (root: Root, following: readonly DeliveryEvent[], last: string): readonly Span[] => {
  const spans: Span[] = [];
  let running: AttemptStart | null = null;
  const end = (until: string, ended: AttemptEnd | null = null): void => {
    if (running !== null) spans.push(attempt(root, running, ended, until));
    running = null;
  };
  for (const event of following) {
    if (event.type === "AttemptStarted" || event.type === "EventCancelled") end(event.data.at);
    if (event.type === "AttemptStarted") running = event.data;
    if (event.type === "AttemptSucceeded" || event.type === "AttemptFailed") end(event.data.at, event);
  }
  end(last);
  return spans;
};

/** These records may come long after the event's end, so they are events of the root span and do not prolong it. */
const NOTED: ReadonlySet<string> = new Set<DeliveryEvent["type"]>([
  "PayloadErased",
  "PayloadDamageFound",
  "DuplicatesCounted",
  "DeliveryIdReused",
]);

const noted = ({ type, data }: DeliveryEvent): readonly SpanEvent[] =>
  NOTED.has(type) ? [{ name: type, atMs: ms(data.at), attributes: {} }] : [];

const GOES_ON: ReadonlySet<string> = new Set<DeliveryEvent["type"]>([
  "EventHeldAgain",
  "EventReleased",
  "HoldEnded",
  "CancellationRequested",
  "EventCancelled",
  "AttemptStarted",
  "AttemptSucceeded",
  "AttemptFailed",
  "EventDelivered",
  "DeliveryFailed",
]);

const errorAfter = (error: string | null, event: DeliveryEvent): string | null => {
  if (event.type === "HoldEnded") return event.data.outcome;
  if (event.type === "EventCancelled") return "cancelled";
  if (event.type === "DeliveryFailed") return event.data.failure.kind;
  return event.type === "AttemptSucceeded" ? null : error;
};

const lastOf = (following: readonly DeliveryEvent[], otherwise: string): string =>
  following.findLast(({ type }) => GOES_ON.has(type))?.data.at ?? otherwise;

const errorOf = (following: readonly DeliveryEvent[], before: string | null): string | null =>
  following.filter(({ type }) => GOES_ON.has(type)).reduce(errorAfter, before);

const spansOfReplay = (root: Root, { data }: Replayed, following: readonly DeliveryEvent[]): readonly Span[] => {
  const last = lastOf(following, data.at);
  const times = { startMs: ms(data.at), endMs: ms(last) };
  const about = { ...replaySpan(data.replay_id), ...times, error: errorOf(following, null) };
  const whole = childOf(root, ["replay", data.replay_id], about);
  return withRoot(whole, attemptSpans(whole, following, last));
};

/** The spans of a replayed decision begin with the replay, because the event may have been received days before. */
const begun = (request: Request): Request =>
  request.replay === undefined ? request : { ...request, received_at: request.at, authenticated_at: request.at };

const spansOfDecision = (
  decision: Decision,
  top: Root & ReturnType<typeof topOf>,
  following: readonly DeliveryEvent[],
  approvals: readonly RecordedEvent[],
): readonly Span[] => {
  const request: Request = decision.data;
  const spans: Span[] = [];
  // A step was authenticated with its bundle, a replay with the first decision: neither has a span for that.
  const isKnown = request.bundle !== undefined || request.replay !== undefined;
  if (!isKnown && request.origin.kind !== "system") spans.push(authentication(top, request));
  if (request.origin.kind !== "system") spans.push(...gatesAsked(top, begun(request)));
  const holdEnd = following.find(({ type }) => type === "EventReleased" || type === "HoldEnded");
  if (decision.type === "EventHeld" && holdEnd !== undefined) {
    const { approval_id: approvalId } = decision.data.approval;
    const hold = { approvalId, from: request.at, until: holdEnd.data.at, error: errorAfter(null, holdEnd) };
    spans.push(holdSpanOf(top, hold, approvals));
  }
  const last = lastOf(following, request.at);
  spans.push(...attemptSpans(top, following, last));
  const whole = {
    ...{ ...executionSpan(request), ...top },
    endMs: Math.max(ms(request.at), ms(last)),
    error: errorOf(following, decision.type === "EventBlocked" ? "blocked" : null),
    events: following.flatMap(noted),
  };
  return withRoot(whole, spans);
};

const partsOf = (
  decision: Decision,
  following: readonly DeliveryEvent[],
  approvals: readonly RecordedEvent[],
): readonly (readonly Span[])[] => {
  const top = { ...topOf(decision), traceId: decision.meta.trace_id, startMs: ms(begun(decision.data).received_at) };
  const replays = following.flatMap((event, index) => (event.type === "EventReplayed" ? [{ event, index }] : []));
  return [
    spansOfDecision(decision, top, following.slice(0, replays[0]?.index), approvals),
    ...replays.map(({ event, index }, nth) =>
      spansOfReplay(top, event, following.slice(index + 1, replays[nth + 1]?.index)),
    ),
  ];
};

/** Spans of several traces if a blocked event was sent again. Both lists have the records from the oldest. */
export const executionSpans = (
  delivery: readonly RecordedEvent[],
  approvals: readonly RecordedEvent[],
): readonly Span[] => spansInParts(delivery, approvals).flat();

/** The trace in its parts, which end separately, from the oldest. The last part may not have ended. */
export const spansInParts = (
  delivery: readonly RecordedEvent[],
  approvals: readonly RecordedEvent[],
): readonly (readonly Span[])[] => {
  const events = delivery.map(eventOf<Recorded>);
  const decisions = events.flatMap((event, index) => (isDecision(event) ? [{ event, index }] : []));
  return decisions.flatMap(({ event, index }, nth) =>
    partsOf(event, events.slice(index + 1, decisions[nth + 1]?.index), approvals),
  );
};
