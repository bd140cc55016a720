import { approval } from "../../domain/approval/decider.ts";
import type { ApprovalEvent, Subject } from "../../domain/approval/events.ts";
import { delivery } from "../../domain/delivery/decider.ts";
import type { HoldOutcome } from "../../domain/delivery/events.ts";
import { isActive } from "../../domain/delivery/state.ts";
import type { Reason } from "../../domain/personal/words.ts";
import type { Clock } from "../../domain/ports/clock.ts";
import type { EventLog, RecordedEvent } from "../../domain/ports/event-log.ts";
import { type Reaction, reaction } from "../following/reaction.ts";
import type { Aggregates } from "../streams/aggregates.ts";
import { causedEnvelope, type Envelope } from "../streams/envelope.ts";
import { runCommand } from "../streams/run-command.ts";
import { approvalReleases } from "./approval-releases.ts";
import { approvalRequests } from "./approval-requests.ts";
import { approvalStream } from "./approvals.ts";

export type ApprovalReactionsDeps = {
  readonly log: EventLog;
  readonly aggregates: Aggregates;
  readonly clock: Clock;
  readonly deliver: {
    offer(job: {
      readonly kind: "due";
      readonly eventId: string;
      readonly account: string;
      readonly endpointId: string;
    }): void;
  };
};

const EXPIRED = "Nobody decided in time.";
const DELIVERED = "An attempt from before the request was held again has reached its receiver.";

const OUTCOME = {
  ApprovalRejected: "rejected",
  ApprovalExpired: "expired",
  ApprovalCancelled: "cancelled",
} as const satisfies Partial<Record<ApprovalEvent["type"], HoldOutcome>>;

type EndHold = {
  readonly type: "EndHold";
  readonly approvalId: string;
  readonly outcome: HoldOutcome;
  readonly reason: Reason;
  readonly at: string;
};

export const holdEnds = (
  kind: Subject["kind"],
  clock: Clock,
  endHold: (cause: RecordedEvent, subjectId: string, command: EndHold) => Promise<unknown>,
): readonly Reaction[] =>
  (["ApprovalRejected", "ApprovalExpired", "ApprovalCancelled"] as const).map((type) =>
    reaction(type, async (data, cause) => {
      if (data.subject.kind !== kind) return;
      const reason = "reason" in data ? data.reason : EXPIRED;
      const at = new Date(clock.now()).toISOString();
      const { approval_id: approvalId, subject } = data;
      await endHold(cause, subject.id, { type: "EndHold", approvalId, outcome: OUTCOME[type], reason, at });
    }),
  );

/** Every command of these reactions is idempotent, because a crash may repeat it. */
export const approvalReactions = ({ log, aggregates, clock, deliver }: ApprovalReactionsDeps): readonly Reaction[] => {
  const now = (): string => new Date(clock.now()).toISOString();

  const envelopeOf = (cause: RecordedEvent): Envelope =>
    causedEnvelope(cause, { actor: "approvals", commandId: `approvals-${cause.id}`, at: now() });

  const requests = approvalRequests({ log, aggregates, clock });
  const releases = approvalReleases({ log, aggregates, clock });

  const cancel = async (cause: RecordedEvent, approvalId: string, reason: Reason): Promise<void> => {
    const command = { type: "CancelApproval", reason, at: now() } as const;
    await aggregates.handle(approval, approvalStream(approvalId), command, envelopeOf(cause));
  };

  /** A refused command is ignored: the delivery was already released or has ended. */
  const endHold = (cause: RecordedEvent, eventId: string, command: EndHold) =>
    runCommand(log, { decider: delivery, stream: `delivery-${eventId}`, command, envelope: envelopeOf(cause) });

  const request = async (held: RecordedEvent): Promise<void> => {
    await requests.request(held);
  };

  return [
    // The request itself asks for the approval before it answers; this covers a crash in between.
    { on: "EventHeld", run: request },
    { on: "EventHeldAgain", run: request },
    reaction("HoldWithdrawn", ({ approval_id }, cause) => cancel(cause, approval_id, DELIVERED)),
    reaction("ApprovalGranted", async ({ subject }, cause) => {
      if (subject.kind !== "event") return;
      const released = await releases.release(cause);
      if (released.kind !== "event" || !isActive(released.known.state)) return;
      const { endpoint_id: endpointId } = released.known.state.request;
      if (endpointId === null) return;
      deliver.offer({ kind: "due", eventId: subject.id, account: cause.meta.account, endpointId });
    }),
    ...holdEnds("event", clock, endHold),
    // A hold that was cancelled needs no decision of people any longer, so its approval is cancelled too.
    reaction("HoldEnded", async ({ approval_id, outcome, reason }, cause) => {
      if (outcome === "cancelled") await cancel(cause, approval_id, reason);
    }),
  ];
};
