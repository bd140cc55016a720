import { approval } from "../domain/approval/decider.ts";
import type { ApprovalRequest } from "../domain/approval/events.ts";
import { approvalOfHeld, approvalOfHeldBundle } from "../domain/approval/requested.ts";
import type { Bundle } from "../domain/bundle/decider.ts";
import type { HeldBundle } from "../domain/bundle/events.ts";
import type { Delivery } from "../domain/delivery/decider.ts";
import type { HeldRequest } from "../domain/delivery/events.ts";
import type { Clock, EventLog, Position, RecordedEvent } from "../domain/ports.ts";
import type { Aggregates } from "./aggregates.ts";
import { approvalStream } from "./approvals.ts";
import type { Envelope } from "./envelope.ts";
import { type Foldable, type Known, latestOf, readOn } from "./run-command.ts";

/** The record that holds an event or a bundle, `EventHeld` or `BundleHeld`. */
export type HoldRecord = Pick<RecordedEvent, "id" | "type" | "data" | "meta">;

export type ApprovalRequests = {
  /**
   * Requests the approval that a hold names. The request's own path does so before it answers, so that no answer names an
   * approval that is not in the log. The process manager does the same for every hold, in case of a crash between the two
   * records: both give the same command. Resolves with the position of the approval's last record.
   */
  request(held: HoldRecord): Promise<Position>;
  /**
   * For an answer about what was recorded in `stream` before, here or on another node: the position of the last record that
   * the answer rests on. It names the approval of what was held, which is requested here if a crash has left that undone.
   */
  recorded(stream: string, known: Known<Delivery | Bundle>): Promise<Position | undefined>;
};

export type ApprovalRequestsDeps = {
  readonly log: EventLog;
  readonly aggregates: Pick<Aggregates, "handle">;
  readonly clock: Clock;
};

export const isHold = ({ type }: Pick<HoldRecord, "type">): boolean => type === "EventHeld" || type === "BundleHeld";

/** The type of a recorded event says what its data are. */
const requestOf = ({ type, data, meta }: HoldRecord): ApprovalRequest =>
  type === "BundleHeld"
    ? approvalOfHeldBundle(meta.account, data as unknown as HeldBundle)
    : approvalOfHeld(meta.account, data as unknown as HeldRequest);

/** An event that is decided again after a replay may be held more than once; the last hold is the one that lasts. */
const lastHold: Foldable<HoldRecord | null, RecordedEvent> = {
  initial: null,
  evolve: (held, event) => (isHold(event) ? event : held),
};

export const approvalRequests = ({ log, aggregates, clock }: ApprovalRequestsDeps): ApprovalRequests => {
  const envelopeOf = ({ id, meta }: HoldRecord): Envelope => ({
    commandId: `approvals-${id}`,
    account: meta.account,
    actor: { kind: "system", id: "approvals" },
    trace: { trace_id: meta.trace_id, span_id: meta.span_id },
    at: new Date(clock.now()).toISOString(),
    causationId: id,
  });

  const request = async (held: HoldRecord): Promise<Position> => {
    const asked = requestOf(held);
    const command = { type: "RequestApproval", request: asked } as const;
    const done = await aggregates.handle(approval, approvalStream(asked.approval_id), command, envelopeOf(held));
    if (done.outcome === "rejected" || done.position === undefined) {
      throw new Error(`${asked.approval_id} was neither requested nor there`);
    }
    return done.position;
  };

  return {
    request,
    async recorded(stream, { state, position }) {
      if (!("request" in state) || state.request.verdict.decision !== "hold") return position;
      const { state: held } = await readOn(log, lastHold, stream, { state: lastHold.initial, revision: null });
      return held === null ? position : latestOf(position, await request(held));
    },
  };
};
