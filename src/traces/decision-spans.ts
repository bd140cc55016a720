import type { ApprovalEvent } from "../../domain/approval/events.ts";
import { eventOf } from "../../domain/events.ts";
import type { GateResult } from "../../domain/gate/verdict.ts";
import type { RecordedEvent } from "../../domain/ports/event-log.ts";
import type { Span } from "../../domain/ports/span-exporter.ts";
import { denialOf, gateSpan, holdSpan, voteEvent } from "./conventions.ts";
import { childOf, type Root } from "./span.ts";

export type DecisionTimes = {
  readonly verdict: { readonly gates: readonly GateResult[] };
  readonly received_at: string;
  readonly authenticated_at: string;
  readonly at: string;
};

export const authentication = (root: Root, { received_at, authenticated_at }: DecisionTimes): Span =>
  childOf(root, ["authenticate"], {
    name: "authenticate",
    startMs: Date.parse(received_at),
    endMs: Date.parse(authenticated_at),
    attributes: {},
  });

/** No times of the gates are recorded, so each gate's span is an instant at the end of the decision. */
export const gatesAsked = (
  root: Root,
  { verdict: { gates }, authenticated_at, at }: DecisionTimes,
): readonly Span[] => {
  const decide = childOf(root, ["decide"], {
    name: "decide",
    startMs: Date.parse(authenticated_at),
    endMs: Date.parse(at),
    attributes: {},
    error: gates.map(denialOf).find((denial) => denial !== null) ?? null,
  });
  const asked = gates.map((gate, index) =>
    childOf(root, ["gate", index], {
      ...gateSpan(gate),
      startMs: decide.endMs,
      endMs: decide.endMs,
      error: denialOf(gate),
      parentId: decide.spanId,
    }),
  );
  return [decide, ...asked];
};

export type Hold = {
  readonly approvalId: string;
  readonly from: string;
  readonly until: string;
  readonly error: string | null;
};

/** `approvals` may have records of other approvals, too. */
export const holdSpanOf = (
  root: Root,
  { approvalId, from, until, error }: Hold,
  approvals: readonly RecordedEvent[],
): Span => {
  const votes = approvals.map(eventOf<ApprovalEvent>).flatMap(({ type, data }) => {
    if (type !== "VoteCast" || data.approval_id !== approvalId) return [];
    return [{ ...voteEvent(data.member_id, data.decision), atMs: Date.parse(data.at) }];
  });
  const times = { startMs: Date.parse(from), endMs: Date.parse(until) };
  return childOf(root, ["hold"], { ...holdSpan(approvalId), ...times, error, events: votes });
};
