import type { Feed } from "../../domain/ports/feed.ts";
import { accountReactions } from "../accounts/account-reactions.ts";
import type { Accounts } from "../accounts/accounts.ts";
import { type ApprovalExpiry, approvalExpiry } from "../approvals/approval-expiry.ts";
import { approvalReactions } from "../approvals/approval-reactions.ts";
import type { ApprovalRenewal } from "../approvals/approval-renewal.ts";
import { changedTargets } from "../approvals/changed-targets.ts";
import { overageLoop } from "../billing/overage.ts";
import { BUNDLE_REACTOR, bundleReactions, stoppedBundles } from "../bundles/reactions.ts";
import { type AppliedChanges, changeReactions } from "../change-control/held-changes.ts";
import { endpointReactions } from "../delivery/endpoint-reactions.ts";
import { erasureReactions } from "../erasure/erasures.ts";
import { personalDataReactions } from "../erasure/personal-data.ts";
import { costReactions, SUSPENSIONS_REACTOR, stoppedRequests } from "../execute/reactions.ts";
import { type FeedLoop, feedLoop } from "../feed/feed.ts";
import { type Reactor, reactor } from "../following/reactor.ts";
import { heldReactions } from "../ledgers/held-places.ts";
import { slotReactions } from "../ledgers/slots.ts";
import { notificationReactions } from "../notifications/reactions.ts";
import { replayReactions } from "../replays/reactions.ts";
import { expiredAnswers } from "../retention/expired-answers.ts";
import { orphanedPayloads } from "../retention/orphaned-payloads.ts";
import { orphanedPersonalData } from "../retention/orphaned-personal-data.ts";
import { retention } from "../retention/retention.ts";
import { TRACES_AT_ONCE, TRACES_GATHER_MS, traceReactions } from "../traces/exporting.ts";
import type { Foundation } from "./foundation.ts";
import type { Part } from "./part.ts";
import type { Requests } from "./requests.ts";

/** How long records gather before notifications are made of them. */
const NOTIFY_MS = 250;
/** A page takes less unless the broker hangs; then the next process that feeds publishes it again. */
const FEED_STOP_MS = 2_000;

/** Reactions that wait for no view: releases, settlements, erasures, repairs after a crash. */
const reactions = (it: Foundation, { deliver }: Requests, { accounts, expiry, changes }: ReactionsDeps): Reactor =>
  reactor({ log: it.log, clock: it.clock, onError: it.errorsOf("reactor", "reacting to records") }, [
    ...expiry.reactions,
    ...accountReactions(accounts, it.clock),
    ...endpointReactions(it.aggregates, it.clock, () => deliver.wake()),
    ...erasureReactions(it.log),
    ...personalDataReactions(it.log),
    ...approvalReactions({ ...it, deliver }),
    ...replayReactions({ ...it, deliver }),
    ...costReactions(it),
    ...slotReactions(it.slots),
    ...heldReactions(it.ledgers),
    ...changeReactions(it, changes),
  ]);

type ReactionsDeps = {
  readonly accounts: Accounts;
  readonly expiry: ApprovalExpiry;
  readonly changes: AppliedChanges;
};

/** Reactions that wait for views and may reach tens of thousands of requests: those of a suspended agent or a changed target. */
const suspensions = (it: Foundation, at: Requests, renewal: ApprovalRenewal): Reactor =>
  reactor(
    {
      log: it.log,
      clock: it.clock,
      onError: it.errorsOf("suspensions", "reaching what was stopped, or is no longer what was approved"),
    },
    [
      ...stoppedRequests({ ...it, outcomes: at.eventOutcomes, deliver: at.deliver }),
      ...stoppedBundles({ ...it, outcomes: at.bundleOutcomes }),
      ...changedTargets({ ...it, renewal }),
    ],
    { ...SUSPENSIONS_REACTOR, waits: it.waitsOf("suspensions") },
  );

const notifications = (it: Foundation, { deliver }: Requests): Reactor =>
  reactor(
    { log: it.log, clock: it.clock, onError: it.errorsOf("notifications", "making notifications") },
    notificationReactions({ ...it, deliver }),
    { name: "notifications", gatherMs: NOTIFY_MS, waits: it.waitsOf("notifications") },
  );

const bundleSteps = (it: Foundation, { runner, bundleOutcomes, movingBundle }: Requests): Reactor =>
  reactor(
    { log: it.log, clock: it.clock, onError: movingBundle },
    bundleReactions({ ...it, runner, outcomes: bundleOutcomes }),
    BUNDLE_REACTOR,
  );

/** The four reactors, as one part: /ready and the status page show them as "reactions". */
const reactorPart = (
  it: Foundation,
  at: Requests,
  deps: ReactionsDeps & { readonly renewal: ApprovalRenewal },
): Part => {
  const all = [reactions(it, at, deps), suspensions(it, at, deps.renewal), notifications(it, at), bundleSteps(it, at)];
  return {
    name: "reactions",
    role: "deliverer",
    start() {
      for (const one of all) one.start();
    },
    async stop() {
      for (const one of all) await one.stop();
      // A reaction may have started to move a bundle, which is finished as well.
      await at.runner.stop();
    },
    health: { consequence: "degraded", check: () => all.every((one) => one.healthy()) },
  };
};

const tracePart = ({ log, clock, exporter, errorsOf }: Foundation): readonly Part[] => {
  if (exporter === null) return [];
  const exporting = reactor(
    { log, clock, onError: errorsOf("traces", "exporting traces") },
    traceReactions(log, exporter),
    {
      name: "traces",
      gatherMs: TRACES_GATHER_MS,
      beginsAtEnd: true,
      atOnce: { keyOf: ({ stream }) => stream, keysMax: TRACES_AT_ONCE },
    },
  );
  return [
    {
      name: "traces",
      role: "deliverer",
      start: () => exporting.start(),
      async stop() {
        await exporter.close();
        await exporting.stop();
      },
      health: { consequence: "informational", check: () => exporting.healthy() },
    },
  ];
};

const retentionPart = (it: Foundation): Part => {
  const { log, clock, randomness, retentionOf } = it;
  const erasing = it.errorsOf("retention", "erasing what is past its time");
  const loop = retention({
    ...it,
    sweeps: [
      expiredAnswers(log, clock, erasing),
      orphanedPayloads(log, clock, randomness, erasing),
      orphanedPersonalData(log, clock, randomness, erasing),
    ],
    termsOf: retentionOf,
    onError: erasing,
  });
  return { name: "retention", role: "deliverer", start: () => loop.start(), stop: () => loop.stop() };
};

/** Null: this process publishes nothing to Kafka. */
export const feeding = (it: Foundation): FeedLoop | null =>
  it.feed === null
    ? null
    : feedLoop({
        ...it,
        feed: it.feed,
        othersAreGone: it.isAlone,
        onError: it.errorsOf("feed", "publishing records"),
      });

/** Stops after all other followers, as a hanging broker must not keep them from recording. */
export const feedPart = (loop: FeedLoop, connection: Feed): Part => ({
  name: "feed",
  role: "feed",
  start: () => loop.start(),
  async stop() {
    await loop.stop(FEED_STOP_MS);
    await connection.close();
  },
  health: { consequence: "degraded", check: () => loop.healthy() },
});

export type FollowersDeps = {
  readonly accounts: Accounts;
  readonly changes: AppliedChanges;
  readonly renewal: ApprovalRenewal;
};

/** The followers of the log and of views, in the order of their start. */
export const followers = (it: Foundation, at: Requests, { accounts, changes, renewal }: FollowersDeps): Part[] => {
  const expiry = approvalExpiry({ ...it, onError: it.errorsOf("approvals", "ending approvals that have expired") });
  const overage = overageLoop({ ...it, onError: it.errorsOf("billing", "reporting overage") });
  return [
    { name: "overage", role: "deliverer", start: () => overage.start(), stop: () => overage.stop() },
    retentionPart(it),
    { name: "approvals", role: "deliverer", start: () => expiry.start(), stop: () => expiry.stop() },
    ...tracePart(it),
    reactorPart(it, at, { accounts, expiry, changes, renewal }),
    {
      name: "deliverer",
      role: "deliverer",
      start: () => at.deliver.start(),
      stop: (graceMs) => at.deliver.stop(graceMs),
      health: { consequence: "unready", check: () => at.deliver.healthy() },
    },
    { name: "replays", role: "deliverer", start: () => at.bulkReplayer.start(), stop: () => at.bulkReplayer.stop() },
  ];
};
