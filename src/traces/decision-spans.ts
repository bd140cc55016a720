import type { ApprovalEvent } from "../../domain/approval/events.ts";
import type { GateResult } from "../../domain/gate/verdict.ts";
import type { RecordedEvent } from "../../domain/ports/event-log.ts";
import type { Span } from "../../domain/ports/span-exporter.ts";
import { gateSpan, holdSpan, refusalOf, voteEvent } from "./conventions.ts";
import { childOf, type Root } from "./span.ts";

/** Times are ISO-8601 UTC. */
export type Decided = {
  readonly verdict: { readonly gates: readonly GateResult[] };
  readonly received_at: string;
  readonly authenticated_at: string;
  readonly at: string;
};

export const authentication = (root: Root, { received_at, authenticated_at }: Decided): Span =>
  childOf(root, ["authenticate"], {
    name: "authenticate",
    startMs: Date.parse(received_at),
    endMs: Date.parse(authenticated_at),
    attributes: {},
  });

/** From authentication to the verdict. The gates are not timed, so each is an instant at its end. */
export const gatesAsked = (root: Root, { verdict: { gates }, authenticated_at, at }: Decided): readonly Span[] => {
  const decide = childOf(root, ["decide"], {
    name: "decide",
    startMs: Date.parse(authenticated_at),
    endMs: Date.parse(at),
    attributes: {},
    error: gates.map(refusalOf).find((refusal) => refusal !== null) ?? null,
  });
  const asked = gates.map((gate, index) =>
    childOf(root, ["gate", index], {
      ...gateSpan(gate),
      startMs: decide.endMs,
      endMs: decide.endMs,
      error: refusalOf(gate),
      parentId: decide.spanId,
    }),
  );
  return [decide, ...asked];
};

/** The type of a recorded event says what its data are: `approval-` streams hold ApprovalEvents alone. */
const approvalEvent = (recorded: RecordedEvent): ApprovalEvent => recorded as unknown as ApprovalEvent;

export type Hold = {
  readonly approvalId: string;
  /** ISO-8601 UTC. */
  readonly from: string;
  readonly until: string;
  /** How it ended; null if it was released. */
  readonly error: string | null;
};

/** The wait for people, with their votes. `approvals` may have records of other approvals. */
export const holdSpanOf = (
  root: Root,
  { approvalId, from, until, error }: Hold,
  approvals: readonly RecordedEvent[],
): Span => {
  const votes = approvals.map(approvalEvent).flatMap(({ type, data }) => {
    if (type !== "VoteCast" || data.approval_id !== approvalId) return [];
    return [{ ...voteEvent(data.member_id, data.decision), atMs: Date.parse(data.at) }];
  });
  const times = { startMs: Date.parse(from), endMs: Date.parse(until) };
  return childOf(root, ["hold"], { ...holdSpan(approvalId), ...times, error, events: votes });
};
