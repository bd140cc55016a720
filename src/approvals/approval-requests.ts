import { approval } from "../../domain/approval/decider.ts";
import type { ApprovalRequest } from "../../domain/approval/events.ts";
import { approvalOfHeld, approvalOfHeldBundle } from "../../domain/approval/requested.ts";
import { CHANGED } from "../../domain/approval/terms.ts";
import type { Bundle } from "../../domain/bundle/state.ts";
import type { ReplacedApproval } from "../../domain/delivery/events.ts";
import type { Delivery } from "../../domain/delivery/state.ts";
import { type EventType, isEvent } from "../../domain/events.ts";
import type { Clock } from "../../domain/ports/clock.ts";
import type { EventLog, Position, RecordedEvent } from "../../domain/ports/event-log.ts";
import type { Aggregates } from "../streams/aggregates.ts";
import { causedEnvelope, type Envelope } from "../streams/envelope.ts";
import { type Foldable, foldStream, latestOf, type StreamState } from "../streams/run-command.ts";
import { approvalStream } from "./approvals.ts";

export type HoldRecord = Pick<RecordedEvent, "id" | "type" | "data" | "meta">;

export type ApprovalRequests = {
  /**
   * Voids the approval that the new one replaces, then requests the new one. The held request calls this before it
   * answers, and the reactor repeats it, as a crash may come in between.
   */
  request(held: HoldRecord): Promise<Position>;
  /** The position of the last record that an answer about `stream` rests on. A missing approval is requested first. */
  recorded(stream: string, known: StreamState<Delivery | Bundle>): Promise<Position | undefined>;
};

export type ApprovalRequestsDeps = {
  readonly log: EventLog;
  readonly aggregates: Pick<Aggregates, "handle">;
  readonly clock: Clock;
};

const HOLDS: ReadonlySet<string> = new Set<EventType>(["EventHeld", "EventHeldAgain", "BundleHeld", "BundleHeldAgain"]);

export const isHold = ({ type }: Pick<HoldRecord, "type">): boolean => HOLDS.has(type);

const requestOf = (held: HoldRecord): ApprovalRequest => {
  const { account } = held.meta;
  if (isEvent(held, "EventHeld", "EventHeldAgain")) return approvalOfHeld(account, held.data);
  if (isEvent(held, "BundleHeld", "BundleHeldAgain")) return approvalOfHeldBundle(account, held.data);
  throw new Error(`${held.type} holds nothing`);
};

const voidedBy = (held: HoldRecord): ReplacedApproval | null => {
  if (!isEvent(held, "EventHeldAgain", "BundleHeldAgain")) return null;
  const { previous } = held.data;
  return previous.used ? null : previous;
};

/** The last hold is in force, because a replay may hold an event again. */
const lastHold: Foldable<HoldRecord | null, RecordedEvent> = {
  initial: null,
  evolve: (held, event) => (isHold(event) ? event : held),
};

export const approvalRequests = ({ log, aggregates, clock }: ApprovalRequestsDeps): ApprovalRequests => {
  const envelopeOf = (cause: HoldRecord): Envelope =>
    causedEnvelope(cause, {
      actor: "approvals",
      commandId: `approvals-${cause.id}`,
      at: new Date(clock.now()).toISOString(),
    });

  const voidPrevious = async (held: HoldRecord, { approval_id, digest, reasons }: ApprovalRequest): Promise<void> => {
    const previous = voidedBy(held);
    if (previous === null) return;
    const reason = reasons.filter((it) => it.startsWith(CHANGED)).join(" ");
    const envelope = { ...envelopeOf(held), commandId: `approvals-${held.id}/void` };
    const command = { type: "VoidApproval", next: { approval_id, digest }, reason, at: envelope.at } as const;
    await aggregates.handle(approval, approvalStream(previous.approval_id), command, envelope);
  };

  const request = async (held: HoldRecord): Promise<Position> => {
    const asked = requestOf(held);
    await voidPrevious(held, asked);
    const command = { type: "RequestApproval", request: asked } as const;
    const done = await aggregates.handle(approval, approvalStream(asked.approval_id), command, envelopeOf(held));
    if (done.outcome === "rejected" || done.position === undefined) {
      throw new Error(`the approval ${asked.approval_id} could not be requested`);
    }
    return done.position;
  };

  return {
    request,
    async recorded(stream, { state, position }) {
      if (!("request" in state) || state.request.verdict.decision !== "hold") return position;
      const { state: held } = await foldStream(log, lastHold, stream);
      return held === null ? position : latestOf(position, await request(held));
    },
  };
};
