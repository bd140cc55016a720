import type { BundleEvent } from "../../domain/bundle/events.ts";
import type { RecordedEvent, Span, SpanEvent } from "../../domain/ports.ts";
import { bundleSpan, holdSpan } from "./conventions.ts";
import { childOf, decisionSpans, type Root, votesIn } from "./execution-spans.ts";

const ms = (at: string): number => Date.parse(at);

type Decision = Pick<RecordedEvent, "meta"> &
  Extract<BundleEvent, { type: "BundleAdmitted" | "BundleBlocked" | "BundleHeld" }>;

const DECISIONS: ReadonlySet<string> = new Set<Decision["type"]>(["BundleAdmitted", "BundleBlocked", "BundleHeld"]);

/** What is said of a bundle as a whole; its steps and undos are spans of their own below it. */
const told = (event: BundleEvent): SpanEvent | null => {
  switch (event.type) {
    case "RollbackStarted":
      return { name: "rollback started", atMs: ms(event.data.at), attributes: { reason: event.data.reason } };
    case "StepRefused": {
      const { index, code, at } = event.data;
      return { name: "step refused", atMs: ms(at), attributes: { "countersign.bundle.step": index, code } };
    }
    case "StepUndone": {
      const { index, outcome, at } = event.data;
      return { name: "step undone", atMs: ms(at), attributes: { "countersign.bundle.step": index, outcome } };
    }
    case "StepResolved":
      return {
        name: "step resolved by hand",
        atMs: ms(event.data.at),
        attributes: { "countersign.bundle.step": event.data.index },
      };
    default:
      return null;
  }
};

const errorOf = (event: BundleEvent): string | null => {
  if (event.type === "BundleBlocked") return "blocked";
  if (event.type === "BundleHoldEnded") return event.data.outcome;
  if (event.type === "RollbackStarted") return event.data.reason;
  return event.type === "RollbackIncomplete" ? "the rollback is incomplete" : null;
};

const spansOfOne = (
  decision: Decision,
  following: readonly RecordedEvent[],
  approval: readonly RecordedEvent[],
): readonly Span[] => {
  const { meta, data: request } = decision;
  const { trace_id: traceId, span_id: spanId, parent_span_id: parentId = null } = meta;
  const root: Root = { traceId, spanId, subject: request.bundle_id };
  const [received, decided] = [ms(request.received_at), ms(request.at)];
  const spans = [...decisionSpans(root, request.verdict.gates, { received, authenticated: received, decided })];
  const events: SpanEvent[] = [];
  let endMs = decided;
  let error = errorOf(decision);
  for (const recorded of following) {
    // `bundle-` streams hold BundleEvents alone.
    const event = recorded as unknown as BundleEvent;
    if (decision.type === "BundleHeld" && (event.type === "BundleReleased" || event.type === "BundleHoldEnded")) {
      const hold = { ...holdSpan(event.data.approval_id), kind: "internal", events: votesIn(approval) } as const;
      const refusal = event.type === "BundleHoldEnded" ? `${event.data.outcome}: ${event.data.reason}` : null;
      spans.push(childOf(root, ["hold"], { ...hold, startMs: decided, endMs: ms(event.data.at), error: refusal }));
    }
    const said = told(event);
    if (said !== null) events.push(said);
    error = errorOf(event) ?? error;
    // Somebody may tidy up by hand long after its end.
    if (event.type !== "StepResolved") endMs = Math.max(endMs, ms(event.data.at));
  }
  const whole = { ...bundleSpan(request), traceId, spanId, parentId, kind: "server" } as const;
  return [{ ...whole, startMs: received, endMs, error, events }, ...spans];
};

/** The spans of a bundle without those of its steps: `bundle` and `approval` are the records of its streams, oldest first. */
export const bundleSpans = (bundle: readonly RecordedEvent[], approval: readonly RecordedEvent[]): readonly Span[] => {
  const decisions = bundle.flatMap(({ type }, index) => (DECISIONS.has(type) ? [index] : []));
  return decisions.flatMap((from, nth) =>
    spansOfOne(
      // The type of a recorded event says what its data are.
      bundle[from] as unknown as Decision,
      bundle.slice(from + 1, decisions[nth + 1]),
      approval,
    ),
  );
};
