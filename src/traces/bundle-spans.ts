import type { BundleEvent } from "../../domain/bundle/events.ts";
import { eventOf } from "../../domain/events.ts";
import type { RecordedEvent } from "../../domain/ports/event-log.ts";
import type { Span } from "../../domain/ports/span-exporter.ts";
import { bundleSpan, bundleSpanEvent } from "./conventions.ts";
import { authentication, gatesAsked, holdSpanOf } from "./decision-spans.ts";
import { withRoot } from "./span.ts";

type Recorded = Pick<RecordedEvent, "meta"> & BundleEvent;
type Decision = Extract<Recorded, { type: "BundleAdmitted" | "BundleBlocked" | "BundleHeld" }>;

export const BUNDLE_DECISIONS: ReadonlySet<string> = new Set<Decision["type"]>([
  "BundleAdmitted",
  "BundleBlocked",
  "BundleHeld",
]);

const isDecision = (record: Recorded): record is Decision => BUNDLE_DECISIONS.has(record.type);

/**
 * The bundle's span ends with the last of these records; others, as of a step resolved by hand, may come much later.
 */
const GOES_ON: ReadonlySet<string> = new Set<BundleEvent["type"]>([
  "BundleReleased",
  "BundleHoldEnded",
  "StepStarted",
  "StepRefused",
  "StepEnded",
  "RollbackStarted",
  "UndoStarted",
  "StepUndone",
  "BundleCommitted",
  "BundleRolledBack",
  "RollbackIncomplete",
]);

const errorAfter = (error: string | null, event: BundleEvent): string | null => {
  if (event.type === "BundleHoldEnded") return event.data.outcome;
  if (event.type === "RollbackStarted") return "rolled back";
  return event.type === "RollbackIncomplete" ? "rollback incomplete" : error;
};

const spansOfOne = (
  decision: Decision,
  following: readonly BundleEvent[],
  approvals: readonly RecordedEvent[],
): readonly Span[] => {
  const { meta, data: request } = decision;
  const { trace_id: traceId, span_id: spanId, parent_span_id: parentId = null } = meta;
  const top = { traceId, spanId, startMs: Date.parse(request.received_at) };
  // The gates' spans need a time of authentication: the agent was authenticated before its request was read.
  const decided = { ...request, authenticated_at: request.received_at };
  const spans = [authentication(top, decided), ...gatesAsked(top, decided)];
  const holdEnd = following.find(({ type }) => type === "BundleReleased" || type === "BundleHoldEnded");
  if (decision.type === "BundleHeld" && holdEnd !== undefined) {
    const { approval_id: approvalId } = decision.data.approval;
    const hold = { approvalId, from: request.at, until: holdEnd.data.at, error: errorAfter(null, holdEnd) };
    spans.push(holdSpanOf(top, hold, approvals));
  }
  const lasted = following.filter(({ type }) => GOES_ON.has(type));
  const whole: Span = {
    ...{ ...bundleSpan(request), ...top, parentId, kind: "server" },
    endMs: Date.parse(lasted.at(-1)?.data.at ?? request.at),
    error: lasted.reduce(errorAfter, decision.type === "BundleBlocked" ? "blocked" : null),
    events: following.flatMap((event) => bundleSpanEvent(event) ?? []),
  };
  return withRoot(whole, spans);
};

/** Both lists have the records from the oldest to the newest. */
export const bundleSpans = (bundle: readonly RecordedEvent[], approvals: readonly RecordedEvent[]): readonly Span[] => {
  const events = bundle.map(eventOf<Recorded>);
  const decisions = events.flatMap((event, index) => (isDecision(event) ? [{ event, index }] : []));
  return decisions.flatMap(({ event, index }, nth) =>
    spansOfOne(event, events.slice(index + 1, decisions[nth + 1]?.index), approvals),
  );
};
