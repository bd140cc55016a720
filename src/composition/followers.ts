import type { Feed } from "../../domain/ports/feed.ts";
import { accountReactions } from "../accounts/account-reactions.ts";
import type { Accounts } from "../accounts/accounts.ts";
import { releasedClaimReactions } from "../accounts/released-claims.ts";
import { type ApprovalExpiry, approvalExpiry } from "../approvals/approval-expiry.ts";
import { approvalReactions } from "../approvals/approval-reactions.ts";
import type { ApprovalRenewal } from "../approvals/approval-renewal.ts";
import { changedTargets } from "../approvals/changed-targets.ts";
import { memberErasureReactions } from "../audit/member-erasures.ts";
import { overageLoop } from "../billing/overage.ts";
import { BUNDLE_REACTOR, bundleReactions, stoppedBundles } from "../bundles/reactions.ts";
import { type AppliedChanges, changeReactions } from "../change-control/held-changes.ts";
import { endpointReactions } from "../delivery/endpoint-reactions.ts";
import { erasureReactions } from "../erasure/erasures.ts";
import { personalDataReactions } from "../erasure/personal-data.ts";
import { costReactions, SUSPENSIONS_REACTOR, stoppedRequests } from "../execute/reactions.ts";
import { FeedLoop } from "../feed/feed-loop.ts";
import { Reactor } from "../following/reactor.ts";
import { heldReactions } from "../ledgers/held-places.ts";
import { slotReactions } from "../ledgers/slots.ts";
import { notificationReactions } from "../notifications/reactions.ts";
import { replayReactions } from "../replays/reactions.ts";
import { expiredAnswers } from "../retention/expired-answers.ts";
import { orphanedPayloads } from "../retention/orphaned-payloads.ts";
import { orphanedPersonalData } from "../retention/orphaned-personal-data.ts";
import { retention } from "../retention/retention.ts";
import { TRACES_AT_ONCE, TRACES_GATHER_MS, traceReactions } from "../traces/trace-reactions.ts";
import type { Foundation } from "./foundation.ts";
import type { Part } from "./part.ts";
import type { Requests } from "./requests.ts";

/** Records gather for this time, so that one look makes notifications of many of them. */
const NOTIFY_MS = 250;
/** How long a stop waits for the page in progress, in ms. If the broker hangs, the page is cut off and repeated. */
const FEED_STOP_MS = 2_000;

export type FollowersDeps = {
  readonly accounts: Accounts;
  readonly changes: AppliedChanges;
  readonly renewal: ApprovalRenewal;
};

type Loop = { start(): void; stop(graceMs: number): void | Promise<void> };

const loopPart = (name: string, loop: Loop): Part => ({
  name,
  role: "deliverer",
  start: () => loop.start(),
  stop: (graceMs) => loop.stop(graceMs),
});

/** Reactions that wait for no view: releases, settlements, erasures, and repairs after a crash. */
const reactions = (
  foundation: Foundation,
  { deliver }: Requests,
  { accounts, expiry, changes }: ReactionsDeps,
): Reactor =>
  new Reactor({ ...foundation, onError: foundation.errorsOf("reactor", "reacting to records") }, [
    ...expiry.reactions,
    ...accountReactions(accounts, foundation.clock),
    ...releasedClaimReactions(foundation.log),
    ...endpointReactions(foundation.aggregates, foundation.clock, () => deliver.wake()),
    ...erasureReactions(foundation.log),
    ...personalDataReactions(foundation.log),
    ...approvalReactions({ ...foundation, deliver }),
    ...replayReactions({ ...foundation, deliver }),
    ...costReactions(foundation),
    ...slotReactions(foundation.slots),
    ...heldReactions(foundation.ledgers),
    ...changeReactions(foundation, changes),
  ]);

type ReactionsDeps = FollowersDeps & { readonly expiry: ApprovalExpiry };

/** Acts on suspended agents, changed targets and erased members: waits for views, and may reach tens of thousands of requests. */
const suspensions = (foundation: Foundation, requests: Requests, renewal: ApprovalRenewal): Reactor =>
  new Reactor(
    {
      ...foundation,
      onError: foundation.errorsOf(
        "suspensions",
        "reaching what was stopped, is no longer what was approved, or is erased",
      ),
    },
    [
      ...stoppedRequests({ ...foundation, outcomes: requests.eventOutcomes, deliver: requests.deliver }),
      ...stoppedBundles({ ...foundation, outcomes: requests.bundleOutcomes }),
      ...changedTargets({ ...foundation, renewal }),
      ...memberErasureReactions(foundation),
    ],
    { ...SUSPENSIONS_REACTOR, waits: foundation.waitsOf("suspensions") },
  );

const notifications = (foundation: Foundation, { deliver }: Requests): Reactor =>
  new Reactor(
    { ...foundation, onError: foundation.errorsOf("notifications", "making notifications") },
    notificationReactions({ ...foundation, deliver }),
    { name: "notifications", gatherMs: NOTIFY_MS, waits: foundation.waitsOf("notifications") },
  );

const bundleSteps = (foundation: Foundation, { runner, bundleOutcomes, movingBundle }: Requests): Reactor =>
  new Reactor(
    { ...foundation, onError: movingBundle },
    bundleReactions({ ...foundation, runner, outcomes: bundleOutcomes }),
    BUNDLE_REACTOR,
  );

/** The four reactors are one part, which /ready and the status page show as "reactions". */
const reactorPart = (foundation: Foundation, requests: Requests, deps: ReactionsDeps): Part => {
  const all = [
    reactions(foundation, requests, deps),
    suspensions(foundation, requests, deps.renewal),
    notifications(foundation, requests),
    bundleSteps(foundation, requests),
  ];
  return {
    name: "reactions",
    role: "deliverer",
    start() {
      for (const one of all) one.start();
    },
    async stop() {
      for (const one of all) await one.stop();
      // A reaction may just have handed a bundle to the runner, so the runner stops after the reactors.
      await requests.runner.stop();
    },
    health: { consequence: "degraded", check: () => all.every((one) => one.healthy()) },
  };
};

const tracePart = ({ log, recent, clock, exporter, errorsOf }: Foundation): readonly Part[] => {
  if (exporter === null) return [];
  const exporting = new Reactor(
    { log, recent, clock, onError: errorsOf("traces", "exporting traces") },
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

const retentionPart = (foundation: Foundation): Part => {
  const { log, clock, randomness, retentionOf } = foundation;
  const erasing = foundation.errorsOf("retention", "erasing what is past its time");
  const loop = retention({
    ...foundation,
    sweeps: [
      expiredAnswers(log, clock, erasing),
      orphanedPayloads(log, clock, randomness, erasing),
      orphanedPersonalData(log, clock, randomness, erasing),
    ],
    termsOf: retentionOf,
    onError: erasing,
  });
  return loopPart("retention", loop);
};

export const feeding = (foundation: Foundation): FeedLoop | null =>
  foundation.feed === null
    ? null
    : new FeedLoop({
        ...foundation,
        // The embedded log's own appends give places alone, and the feed needs whole records.
        recent: foundation.isAlone ? null : foundation.recent,
        feed: foundation.feed,
        othersAreGone: foundation.isAlone,
        onError: foundation.errorsOf("feed", "publishing records"),
      });

/** The feed stops after all other followers, so that a broker that hangs keeps none of them from recording. */
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

/** Lists the followers of the log and of views in the order in which they are started. */
export const followerParts = (foundation: Foundation, requests: Requests, deps: FollowersDeps): Part[] => {
  const { deliver, bulkReplayer } = requests;
  const expiry = approvalExpiry({
    ...foundation,
    onError: foundation.errorsOf("approvals", "ending approvals that have expired"),
  });
  const overage = overageLoop({ ...foundation, onError: foundation.errorsOf("billing", "reporting overage") });
  return [
    loopPart("overage", overage),
    retentionPart(foundation),
    loopPart("approvals", expiry),
    ...tracePart(foundation),
    reactorPart(foundation, requests, { ...deps, expiry }),
    { ...loopPart("deliverer", deliver), health: { consequence: "unready", check: () => deliver.healthy() } },
    loopPart("replays", bulkReplayer),
  ];
};
