import type { Subject } from "../../domain/approval/events.ts";
import { bundle } from "../../domain/bundle/decider.ts";
import type { BundleRequest } from "../../domain/bundle/events.ts";
import type { Bundle } from "../../domain/bundle/state.ts";
import { change } from "../../domain/change/decider.ts";
import { delivery } from "../../domain/delivery/decider.ts";
import type { Request } from "../../domain/delivery/events.ts";
import type { Delivery } from "../../domain/delivery/state.ts";
import { dataOf } from "../../domain/events.ts";
import type { Clock } from "../../domain/ports/clock.ts";
import type { EventLog, RecordedEvent } from "../../domain/ports/event-log.ts";
import { suspensionReason, uncached } from "../accounts/agent-suspension.ts";
import type { Aggregates } from "../streams/aggregates.ts";
import { bundleStream } from "../streams/bundle-id.ts";
import { changeStream } from "../streams/change-stream.ts";
import { causedEnvelope, type Envelope } from "../streams/envelope.ts";
import { foldStream, runCommand, type StreamState } from "../streams/run-command.ts";
import { pagesOf } from "../streams/stream-pages.ts";
import { approvalStream } from "./approvals.ts";

type EndRecord = Pick<RecordedEvent, "id" | "data" | "meta">;

type Released = { readonly kind: "event"; readonly known: StreamState<Delivery> } | ReleasedBundle;
type ReleasedBundle = { readonly kind: "bundle"; readonly known: StreamState<Bundle> };

export type ApprovalReleases = {
  /**
   * Releases what the approval holds; if its agent was suspended, cancels it instead. The request of the vote calls
   * this before it answers; the reactor repeats it in case of a crash in between.
   */
  release(granted: EndRecord): Promise<Released>;
  releaseGranted(approvalId: string): Promise<Released | null>;
  /** Called before the vote is answered, so that no later approval can release the rejected request. */
  endRejected(approvalId: string): Promise<void>;
};

export type ApprovalReleasesDeps = {
  readonly log: EventLog;
  readonly aggregates: Pick<Aggregates, "load">;
  readonly clock: Clock;
};

const READ_PAGE = 100;

export const approvalReleases = ({ log, aggregates, clock }: ApprovalReleasesDeps): ApprovalReleases => {
  const current = uncached(aggregates);

  const envelopeOf = (cause: EndRecord, type: "Release" | "Cancel" | "EndHold", at: string): Envelope =>
    causedEnvelope(cause, {
      actor: "approvals",
      // Two nodes may decide differently on one grant, so a release and a cancellation have different ids.
      commandId: `approvals-${cause.id}/${type}`,
      at,
    });

  const commandFor = async (granted: EndRecord, held: Request | BundleRequest | null) => {
    const { approval_id: approvalId, digest } = dataOf("ApprovalGranted", granted);
    const reason = held === null ? null : await suspensionReason(current, held);
    const at = new Date(clock.now()).toISOString();
    const command =
      reason === null
        ? ({ type: "Release", approvalId, digest, at } as const)
        : ({ type: "Cancel", reason, at } as const);
    return { command, envelope: envelopeOf(granted, command.type, at) };
  };

  const releaseEvent = async (granted: EndRecord, { id }: Subject): Promise<Released> => {
    const stream = `delivery-${id}`;
    const known = await foldStream(log, delivery, stream);
    const { state } = known;
    const { command, envelope } = await commandFor(granted, state.phase === "held" ? state.request : null);
    return {
      kind: "event",
      known: (await runCommand(log, { decider: delivery, stream, from: known, command, envelope })).known,
    };
  };

  const releaseBundle = async (granted: EndRecord, { id }: Subject): Promise<Released> => {
    const stream = bundleStream(id);
    const known = await foldStream(log, bundle, stream);
    const { state } = known;
    const { command, envelope } = await commandFor(granted, state.phase === "held" ? state.request : null);
    return {
      kind: "bundle",
      known: (await runCommand(log, { decider: bundle, stream, from: known, command, envelope })).known,
    };
  };

  const release: ApprovalReleases["release"] = (granted) => {
    const { subject } = dataOf("ApprovalGranted", granted);
    return subject.kind === "event" ? releaseEvent(granted, subject) : releaseBundle(granted, subject);
  };

  const recordOf = async (
    approvalId: string,
    wanted: "ApprovalGranted" | "ApprovalRejected",
  ): Promise<EndRecord | null> => {
    for await (const page of pagesOf(log, approvalStream(approvalId), null, READ_PAGE)) {
      const found = page.find(({ type }) => type === wanted);
      if (found !== undefined) return found;
    }
    return null;
  };

  return {
    release,
    async releaseGranted(approvalId) {
      const granted = await recordOf(approvalId, "ApprovalGranted");
      return granted === null ? null : release(granted);
    },
    async endRejected(approvalId) {
      const rejected = await recordOf(approvalId, "ApprovalRejected");
      if (rejected === null) return;
      const { subject, reason } = dataOf("ApprovalRejected", rejected);
      const at = new Date(clock.now()).toISOString();
      const command = { type: "EndHold", approvalId, outcome: "rejected", reason, at } as const;
      const envelope = envelopeOf(rejected, command.type, at);
      const { kind, id } = subject;
      if (kind === "event") await runCommand(log, { decider: delivery, stream: `delivery-${id}`, command, envelope });
      else if (kind === "bundle")
        await runCommand(log, { decider: bundle, stream: bundleStream(id), command, envelope });
      else await runCommand(log, { decider: change, stream: changeStream(id), command, envelope });
    },
  };
};
