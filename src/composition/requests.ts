import { bundle } from "../../domain/bundle/decider.ts";
import { delivery } from "../../domain/delivery/decider.ts";
import { subkey } from "../../infra/crypto/subkey.ts";
import { activeSource } from "../admission/active-source.ts";
import { admission } from "../admission/admission.ts";
import { webhookCounts } from "../admission/webhook-counts.ts";
import { bodyThread, sharedBodyReader } from "../bodies/body-reader.ts";
import { bundleClaim } from "../bundles/bundle-claim.ts";
import { BundleRunner, startingAtOnce } from "../bundles/bundle-runner.ts";
import { stepGates } from "../bundles/step-gates.ts";
import { Deliverer } from "../delivery/deliverer.ts";
import { executing } from "../execute/agent-requests.ts";
import { outcomes } from "../execute/outcome-waits.ts";
import { waitingPlaces } from "../execute/waiting-places.ts";
import { checkThread } from "../gates/check-thread.ts";
import { DIRECT_WORK_MAX, sharedChecks } from "../gates/checks.ts";
import { compilePace } from "../gates/compile-cache.ts";
import { actionCompiler, compiledActions } from "../gates/compiled-action.ts";
import { compiledPolicies, policyCompiler } from "../gates/compiled-policy.ts";
import { definitions, definitionThread } from "../gates/definitions.ts";
import { bulkReplayStart } from "../replays/bulk-replay-start.ts";
import { BulkReplayer } from "../replays/bulk-replayer.ts";
import { EventReplayer } from "../replays/event-replayer.ts";
import type { Foundation } from "./foundation.ts";

const threads = () => ({
  checks: checkThread(),
  definitions: definitionThread(),
  bodyReader: bodyThread(),
  // Webhooks have a thread of their own, so that people who read large payloads delay no webhook.
  webhookParser: bodyThread("webhook-parser"),
});

const gates = ({ clock }: Foundation, slow: ReturnType<typeof threads>) => {
  const pace = compilePace(clock);
  return {
    checks: sharedChecks(slow.checks, clock),
    policies: compiledPolicies(policyCompiler(DIRECT_WORK_MAX), pace),
    actions: compiledActions(actionCompiler(DIRECT_WORK_MAX), pace),
    definitions: definitions(slow.definitions, { policy: policyCompiler(), action: actionCompiler() }),
    bodyReader: sharedBodyReader(slow.bodyReader, clock),
    webhookParser: sharedBodyReader(slow.webhookParser, clock),
  };
};

export const buildRequests = (foundation: Foundation) => {
  const { log, views, clock, randomness, errorsOf, key } = foundation;
  const slow = threads();
  const compiled = gates(foundation, slow);
  const digestKey = subkey(key, "loops");
  const readingOutcomes = errorsOf("outcomes", "reading what a caller waits for");
  const waiters = waitingPlaces();
  const eventOutcomes = outcomes({
    log,
    decider: delivery,
    category: "delivery",
    onError: readingOutcomes,
    places: waiters,
  });
  const bundleOutcomes = outcomes({
    log,
    decider: bundle,
    category: "bundle",
    onError: readingOutcomes,
    places: waiters,
  });
  const movingBundle = errorsOf("bundles", "moving a bundle on");
  const deliver = new Deliverer({
    ...foundation,
    othersAreGone: foundation.isAlone,
    onChanged(eventId, known) {
      eventOutcomes.changed(eventId, known);
      // `runner` is assigned below, because it needs the deliverer; nothing is delivered before both are made.
      runner.delivered(eventId, known);
    },
    onAttempt: foundation.observer.attempted,
    onError: errorsOf("deliverer", "delivering events"),
  });
  const runner = new BundleRunner({
    ...foundation,
    gates: stepGates({ ...foundation, ...compiled, digestKey }),
    deliver,
    outcomes: bundleOutcomes,
    onError: movingBundle,
  });

  const claims = {
    ...foundation,
    ...compiled,
    digestKey,
    onDecided: foundation.observer.decided,
    onOnlyCounted: foundation.calls.requestRefused,
    deliver,
  };
  const sourceOf = activeSource(foundation.aggregates);
  const begin = bundleClaim(claims);
  const replayer = new EventReplayer(claims);
  return {
    ...compiled,
    threads: Object.values(slow),
    activeSource: sourceOf,
    admit: admission({
      ...claims,
      activeSource: sourceOf,
      box: foundation.opened,
      counts: webhookCounts(foundation.counted, clock),
    }),
    execute: executing(claims),
    beginBundle: foundation.config.roles.includes("deliverer") ? startingAtOnce(begin, runner, movingBundle) : begin,
    deliver,
    runner,
    movingBundle,
    eventOutcomes,
    bundleOutcomes,
    replayer,
    startBulkReplay: bulkReplayStart(foundation),
    bulkReplayer: new BulkReplayer({
      ...{ log, views, aggregates: foundation.aggregates, replayer, clock, randomness, node: foundation.node },
      othersAreGone: foundation.isAlone,
      onError: errorsOf("replays", "replaying events"),
    }),
  };
};

export type Requests = ReturnType<typeof buildRequests>;
