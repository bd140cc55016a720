import type { ApprovalEvent } from "../../domain/approval/events.ts";
import type { DeliveryEvent, Failure, Request } from "../../domain/delivery/events.ts";
import type { GateResult } from "../../domain/gate/verdict.ts";
import type { RecordedEvent, Span, SpanEvent } from "../../domain/ports.ts";
import { attemptSpan, executionSpan, gateSpan, holdSpan, voteEvent } from "./conventions.ts";
import { spanIdOf } from "./span.ts";

const ms = (at: string): number => Date.parse(at);

/** What is common to all spans below one root. */
export type Root = { readonly traceId: string; readonly spanId: string; readonly subject: string };

/** `name` tells the spans of one subject apart. */
export const childOf = (
  root: Root,
  name: readonly (string | number)[],
  it: Omit<Span, "traceId" | "spanId" | "parentId" | "events"> & { readonly events?: readonly SpanEvent[] },
  parentId = root.spanId,
): Span => ({ events: [], ...it, traceId: root.traceId, spanId: spanIdOf(root.subject, ...name), parentId });

type Decision = Pick<RecordedEvent, "meta"> &
  Extract<DeliveryEvent, { type: "EventAdmitted" | "EventBlocked" | "EventHeld" }>;
type Attempt = {
  readonly number: number;
  readonly endpointId: string;
  readonly trigger: string;
  readonly startMs: number;
};
type Ended = Extract<DeliveryEvent, { type: "AttemptSucceeded" | "AttemptFailed" }>;

/** The decision and what it took: authentication, then each gate, as an instant at the verdict, as nobody has timed it. */
export const decisionSpans = (
  root: Root,
  gates: readonly GateResult[],
  at: { readonly received: number; readonly authenticated: number; readonly decided: number },
): readonly Span[] => {
  const decide = childOf(root, ["decide"], {
    name: "decide",
    kind: "internal",
    startMs: at.authenticated,
    endMs: at.decided,
    attributes: {},
    error: gates.find(({ outcome }) => outcome === "deny")?.detail ?? null,
  });
  const authenticate = childOf(root, ["authenticate"], {
    name: "authenticate",
    kind: "internal",
    startMs: at.received,
    endMs: at.authenticated,
    attributes: {},
    error: null,
  });
  const asked = gates.map((gate) =>
    childOf(
      root,
      ["gate", gate.gate],
      {
        ...gateSpan(gate),
        kind: "internal",
        startMs: at.decided,
        endMs: at.decided,
        error: gate.outcome === "deny" ? gate.detail : null,
      },
      decide.spanId,
    ),
  );
  return [authenticate, decide, ...asked];
};

/** Who said what of an approval while it held something. */
export const votesIn = (approval: readonly RecordedEvent[]): readonly SpanEvent[] =>
  approval.flatMap((recorded) => {
    // `approval-` streams hold ApprovalEvents alone.
    const event = recorded as unknown as ApprovalEvent;
    if (event.type !== "VoteCast") return [];
    return [{ ...voteEvent(event.data.member_id, event.data.decision), atMs: ms(event.data.at) }];
  });

const attempt = (root: Root, begun: Attempt, endMs: number, ended: Ended | null): Span => {
  const { number, endpointId, trigger, startMs } = begun;
  const failure = ended?.type === "AttemptFailed" ? ended.data.failure : null;
  const about = { number, endpointId, trigger, statusCode: ended?.data.status_code ?? null, failure };
  const error = ended === null ? "nobody has seen its end" : (failure?.detail ?? null);
  return childOf(root, ["attempt", number], { ...attemptSpan(about), kind: "client", startMs, endMs, error });
};

const DECISIONS: ReadonlySet<string> = new Set<Decision["type"]>(["EventAdmitted", "EventBlocked", "EventHeld"]);

type Top = { readonly root: Root } & Pick<Span, "parentId" | "kind">;

/** Of what was asked for by a request the root is that request's own span; of what follows from another record, below it. */
const topOf = ({ meta, data }: Decision): Top => {
  const { trace_id: traceId, span_id, parent_span_id } = meta;
  const subject = data.event_id;
  if (data.bundle !== undefined || data.origin.kind === "system") {
    return { root: { traceId, spanId: spanIdOf(subject, "root"), subject }, parentId: span_id, kind: "internal" };
  }
  return { root: { traceId, spanId: span_id, subject }, parentId: parent_span_id ?? null, kind: "server" };
};

/** One decision and all that came of it. */
const spansOfOne = (
  decision: Decision,
  following: readonly RecordedEvent[],
  approval: readonly RecordedEvent[],
): readonly Span[] => {
  const request: Request = decision.data;
  const { root, parentId, kind } = topOf(decision);
  const decided = ms(request.at);
  const at = { received: ms(request.received_at), authenticated: ms(request.authenticated_at), decided };
  const spans: Span[] = request.origin.kind === "system" ? [] : [...decisionSpans(root, request.verdict.gates, at)];
  const events: SpanEvent[] = [];
  let endMs = decided;
  let error = decision.type === "EventBlocked" ? "blocked" : null;
  let running: Attempt | null = null;
  let failure: Failure | null = null;

  const endHold = (until: string, reason: string | null): void => {
    if (decision.type !== "EventHeld") return;
    const { approval_id } = decision.data.approval;
    const hold = { ...holdSpan(approval_id), kind: "internal", startMs: decided, endMs: ms(until) } as const;
    spans.push(childOf(root, ["hold"], { ...hold, error: reason, events: votesIn(approval) }));
  };
  const endAttempt = (until: string, ended: Ended | null): void => {
    if (running !== null) spans.push(attempt(root, running, ms(until), ended));
    running = null;
  };

  for (const recorded of following) {
    // The stream's category says which events are in it; what this build does not know falls through.
    const event = recorded as unknown as DeliveryEvent;
    switch (event.type) {
      case "EventReleased":
        endHold(event.data.at, null);
        break;
      case "HoldEnded":
        endHold(event.data.at, `${event.data.outcome}: ${event.data.reason}`);
        error = event.data.outcome;
        break;
      case "AttemptStarted": {
        const { number, endpoint_id: endpointId, trigger, at: startedAt } = event.data;
        endAttempt(startedAt, null);
        running = { number, endpointId, trigger, startMs: ms(startedAt) };
        break;
      }
      case "AttemptSucceeded":
        endAttempt(event.data.at, event);
        error = null;
        break;
      case "AttemptFailed":
        failure = event.data.failure;
        endAttempt(event.data.at, event);
        break;
      case "DeliveryFailed":
        error = (failure ?? event.data.failure).detail;
        break;
      case "EventCancelled":
        endAttempt(event.data.at, null);
        error = event.data.reason;
        break;
      case "PayloadErased":
      case "DuplicatesCounted":
      case "DeliveryIdReused":
        // Long after its end, some of them.
        events.push({ name: event.type, atMs: ms(event.data.at), attributes: {} });
        continue;
      default:
        break;
    }
    const happenedAt = ms(event.data.at);
    if (happenedAt > endMs) endMs = happenedAt;
  }
  if (running !== null) endAttempt(new Date(endMs).toISOString(), null);
  const { traceId, spanId } = root;
  const whole = { ...executionSpan(request), traceId, spanId, parentId, kind };
  return [{ ...whole, startMs: at.received, endMs, error, events }, ...spans];
};

/**
 * The spans of an event: for each decision on it (a blocked one may be sent again, in a trace of its own) the decision and
 * all that came of it. `delivery` and `approval` are the records of its streams, oldest first.
 */
export const executionSpans = (
  delivery: readonly RecordedEvent[],
  approval: readonly RecordedEvent[],
): readonly Span[] => {
  const decisions = delivery.flatMap(({ type }, index) => (DECISIONS.has(type) ? [index] : []));
  return decisions.flatMap((from, nth) =>
    spansOfOne(
      // The type of a recorded event says what its data are.
      delivery[from] as unknown as Decision,
      delivery.slice(from + 1, decisions[nth + 1]),
      approval,
    ),
  );
};
