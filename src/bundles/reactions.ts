import { approval } from "../../domain/approval/decider.ts";
import type { BundleCommand } from "../../domain/bundle/commands.ts";
import { bundle } from "../../domain/bundle/decider.ts";
import type { Bundle } from "../../domain/bundle/state.ts";
import type { EventType } from "../../domain/events.ts";
import type { Clock } from "../../domain/ports/clock.ts";
import type { EventLog, RecordedEvent } from "../../domain/ports/event-log.ts";
import type { ViewStore } from "../../domain/ports/view-store.ts";
import { bundles } from "../../projections/bundles.ts";
import { suspensionReason, uncached } from "../accounts/agent-suspension.ts";
import { holdEnds } from "../approvals/approval-reactions.ts";
import { approvalReleases } from "../approvals/approval-releases.ts";
import { approvalRequests } from "../approvals/approval-requests.ts";
import { approvalStream } from "../approvals/approvals.ts";
import type { Outcomes } from "../execute/outcome-waits.ts";
import { suspensionReactions } from "../execute/suspension-reactions.ts";
import { type Reaction, reaction } from "../following/reaction.ts";
import type { ReactorOptions } from "../following/reactor.ts";
import type { Ledgers } from "../ledgers/ledgers.ts";
import type { Aggregates } from "../streams/aggregates.ts";
import { bundleStream } from "../streams/bundle-id.ts";
import { causedEnvelope, type Envelope } from "../streams/envelope.ts";
import { foldStream, runCommand } from "../streams/run-command.ts";
import type { ViewProgress } from "../views/view-progress.ts";
import type { BundleRunner } from "./bundle-runner.ts";

export type BundleReactionsDeps = {
  readonly log: EventLog;
  readonly aggregates: Aggregates;
  readonly clock: Clock;
  readonly ledgers: Pick<Ledgers, "settleNow" | "resolve">;
  readonly outcomes: Pick<Outcomes<Bundle>, "changed">;
  readonly runner: Pick<BundleRunner, "advance">;
};

export type StoppedBundlesDeps = Omit<BundleReactionsDeps, "ledgers" | "runner"> & {
  readonly views: Pick<ViewStore, "page">;
  readonly progress: Pick<ViewProgress, "waitFor">;
};

const UNDER_WAY = ["held", "running"] as const;

/** The bundle of a record. Records that name none share the key "", so they are handled one after another. */
const bundleOf = ({ data }: RecordedEvent): string => {
  const {
    bundle_id,
    bundle: step,
    subject,
  } = data as Record<string, unknown> & {
    readonly bundle?: { readonly id: string };
    readonly subject?: { readonly id: string };
  };
  return String(bundle_id ?? step?.id ?? subject?.id ?? "");
};

/**
 * The process that advanced a bundle continues it at once (`BundleRunner.delivered`). The reactor only finds what other
 * processes left, so it can look less often.
 */
export const BUNDLE_REACTOR: ReactorOptions = {
  name: "bundles",
  gatherMs: 50,
  atOnce: { keyOf: bundleOf, keysMax: 32 },
};

const envelopeOf = (cause: RecordedEvent, bundleId: string, at: string): Envelope =>
  causedEnvelope(cause, {
    actor: "bundles",
    // One cause may cancel several bundles, each by a command of its own.
    commandId: `bundles-${cause.id}/${bundleId}`,
    at,
  });

/** A refused command is ignored: it was given before, or the bundle has ended otherwise. */
const telling =
  ({ log, outcomes }: Pick<BundleReactionsDeps, "log" | "outcomes">) =>
  async (cause: RecordedEvent, bundleId: string, command: BundleCommand & { readonly at: string }): Promise<void> => {
    const stream = bundleStream(bundleId);
    const ran = await runCommand(log, {
      decider: bundle,
      stream,
      command,
      envelope: envelopeOf(cause, bundleId, command.at),
    });
    outcomes.changed(bundleId, ran.known);
  };

/** Advances bundles of any node, requests approvals for held ones, and settles the ledgers with the final costs. */
export const bundleReactions = (deps: BundleReactionsDeps): readonly Reaction[] => {
  const { aggregates, ledgers, clock, outcomes, runner } = deps;
  const asking = approvalRequests(deps);
  const releases = approvalReleases(deps);
  const tell = telling(deps);
  const now = (): string => new Date(clock.now()).toISOString();

  const advance = (on: EventType): Reaction => ({
    on,
    run: async (event) => {
      await runner.advance(bundleOf(event));
    },
  });

  return [
    ...(["BundleAdmitted", "BundleReleased", "BundleStepEnded", "RollbackStarted"] as const).map(advance),
    // The request itself asks for the approval before it answers; this covers a crash in between.
    ...(["BundleHeld", "BundleHeldAgain"] as const).map((on) => ({
      on,
      run: async (event: RecordedEvent) => {
        await asking.request(event);
      },
    })),
    reaction("ApprovalGranted", async ({ subject }, cause) => {
      if (subject.kind !== "bundle") return;
      const released = await releases.release(cause);
      if (released.kind === "bundle") outcomes.changed(subject.id, released.known);
      await runner.advance(subject.id);
    }),
    ...holdEnds("bundle", clock, tell),
    // A hold that was cancelled needs no decision of people any longer, so its approval is cancelled too.
    reaction("BundleHoldEnded", async ({ bundle_id, approval_id, outcome, reason, at }, cause) => {
      if (outcome !== "cancelled") return;
      const command = { type: "CancelApproval", reason, at } as const;
      await aggregates.handle(approval, approvalStream(approval_id), command, envelopeOf(cause, bundle_id, now()));
    }),
    reaction("BundleCostDetermined", async ({ bundle_id, ledgers: names, cost }, { meta }) => {
      const { account, trace_id, span_id } = meta;
      const trace = { trace_id, span_id };
      for (const stream of names) {
        if (cost === null) await ledgers.resolve(stream, account, bundle_id);
        else await ledgers.settleNow({ stream, account, event: bundle_id, cost, trace });
      }
    }),
  ];
};

/**
 * Cancels the held bundles of a suspended agent and rolls back the running ones at once. Otherwise they would be
 * stopped only when they are released or start their next step (`suspensionReason`).
 */
export const stoppedBundles = (deps: StoppedBundlesDeps): readonly Reaction[] => {
  const { log, clock } = deps;
  const current = uncached(deps.aggregates);
  const tell = telling(deps);

  const cancel = async (cause: RecordedEvent, bundleId: string): Promise<void> => {
    const { state } = await foldStream(log, bundle, bundleStream(bundleId));
    const reason = "request" in state ? await suspensionReason(current, state.request) : null;
    // The bundle was requested after the agent had been resumed, so it goes on.
    if (reason === null) return;
    await tell(cause, bundleId, { type: "Cancel", reason, at: new Date(clock.now()).toISOString() });
  };

  const shown = { view: bundles, statuses: UNDER_WAY, agentId: "agent_id", newest: "created_at" };
  return suspensionReactions(deps, shown, cancel);
};
