import type { ApprovalEvent, Subject } from "../domain/approval/events.ts";
import { type Bundle, bundle } from "../domain/bundle/decider.ts";
import type { BundleRequest } from "../domain/bundle/events.ts";
import { type Delivery, delivery } from "../domain/delivery/decider.ts";
import type { Request } from "../domain/delivery/events.ts";
import type { Clock, EventLog, RecordedEvent } from "../domain/ports.ts";
import type { Aggregates } from "./aggregates.ts";
import { approvalStream } from "./approvals.ts";
import { bundleStream } from "./bundles/bundle-id.ts";
import type { Envelope } from "./envelope.ts";
import { asOfNow, stoppedBecause } from "./execute/stopped.ts";
import { type Known, readOn, runCommand } from "./run-command.ts";

/** The record of `ApprovalGranted`. */
export type GrantRecord = Pick<RecordedEvent, "id" | "data" | "meta">;

/** What the approval is for, as the release has left it. */
export type Released = { readonly kind: "event"; readonly known: Known<Delivery> } | ReleasedBundle;
type ReleasedBundle = { readonly kind: "bundle"; readonly known: Known<Bundle> };

export type ApprovalReleases = {
  /**
   * Does what a granted approval allows: releases its event or its bundle, or ends the hold if the agent was stopped
   * meanwhile and nothing would be sent. The vote's own path does so before it answers, so that the answer is true. The
   * process manager does the same for every grant, in case of a crash between the two records: doing it again changes
   * nothing.
   */
  release(granted: GrantRecord): Promise<Released>;
  /** The same for an approval by its id; null unless it is granted. */
  releaseGranted(approvalId: string): Promise<Released | null>;
};

export type ApprovalReleasesDeps = {
  readonly log: EventLog;
  readonly aggregates: Pick<Aggregates, "load">;
  readonly clock: Clock;
};

type Granted = Extract<ApprovalEvent, { type: "ApprovalGranted" }>["data"];

/** A stream of an approval has a record for each vote and a few others. */
const READ_PAGE = 100;

export const approvalReleases = ({ log, aggregates, clock }: ApprovalReleasesDeps): ApprovalReleases => {
  const current = asOfNow(aggregates);

  const envelopeOf = ({ id, meta }: GrantRecord, type: "Release" | "Cancel", at: string): Envelope => ({
    // Two nodes may see different things: the one's release must not be taken for a repeat of the other's end.
    commandId: `approvals-${id}/${type}`,
    account: meta.account,
    actor: { kind: "system", id: "approvals" },
    trace: { trace_id: meta.trace_id, span_id: meta.span_id },
    at,
    causationId: id,
  });

  const commandFor = async (granted: GrantRecord, held: Request | BundleRequest | null) => {
    const { approval_id: approvalId, digest } = granted.data as unknown as Granted;
    const reason = held === null ? null : await stoppedBecause(current, held);
    const at = new Date(clock.now()).toISOString();
    const command =
      reason === null
        ? ({ type: "Release", approvalId, digest, at } as const)
        : ({ type: "Cancel", reason, at } as const);
    return { command, envelope: envelopeOf(granted, command.type, at) };
  };

  const releaseEvent = async (granted: GrantRecord, { id }: Subject): Promise<Released> => {
    const stream = `delivery-${id}`;
    const known = await readOn(log, delivery, stream, { state: delivery.initial, revision: null });
    const { state } = known;
    const { command, envelope } = await commandFor(granted, state.phase === "held" ? state.request : null);
    return { kind: "event", known: (await runCommand(log, delivery, stream, known, command, envelope)).known };
  };

  const releaseBundle = async (granted: GrantRecord, { id }: Subject): Promise<Released> => {
    const stream = bundleStream(id);
    const known = await readOn(log, bundle, stream, { state: bundle.initial, revision: null });
    const { state } = known;
    const { command, envelope } = await commandFor(granted, state.phase === "held" ? state.request : null);
    return { kind: "bundle", known: (await runCommand(log, bundle, stream, known, command, envelope)).known };
  };

  const release: ApprovalReleases["release"] = (granted) => {
    const { subject } = granted.data as unknown as Granted;
    return subject.kind === "event" ? releaseEvent(granted, subject) : releaseBundle(granted, subject);
  };

  return {
    release,
    async releaseGranted(approvalId) {
      for (let after: number | null = null; ; ) {
        const page = await log.read(approvalStream(approvalId), after, READ_PAGE);
        const granted = page.find(({ type }) => type === "ApprovalGranted");
        if (granted !== undefined) return release(granted);
        if (page.length < READ_PAGE) return null;
        after = page.at(-1)?.revision ?? null;
      }
    },
  };
};
