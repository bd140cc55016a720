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

/** The record that holds an event or a bundle, first or again. */
export type HoldRecord = Pick<RecordedEvent, "id" | "type" | "data" | "meta">;

export type ApprovalRequests = {
  /**
   * Requests the approval that a hold names. The request's own path does so before it answers, so that no answer names an
   * approval that is not in the log. The process manager does the same for every hold, in case of a crash between the two
   * records: both give the same command. An approval in place of which this one is asked for becomes void first. Resolves
   * with the position of the approval's last record.
   */
  request(held: HoldRecord): Promise<Position>;
  /**
   * For an answer about what was recorded in `stream` before, here or on another node: the position of the last record that
   * the answer rests on. It names the approval of what was held, which is requested here if a crash has left that undone.
   */
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

/** The approval that this one replaces, if nothing has used it; else null. */
const voidedBy = (held: HoldRecord): ReplacedApproval | null => {
  if (!isEvent(held, "EventHeldAgain", "BundleHeldAgain")) return null;
  const { previous } = held.data;
  return previous.used ? null : previous;
};

/** An event that is decided again after a replay may be held more than once; the last hold is the one that lasts. */
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
      throw new Error(`${asked.approval_id} was neither requested nor there`);
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
