import { setTimeout as sleep } from "node:timers/promises";
import type { Position } from "../../domain/ports/event-log.ts";
import { approvalReleases } from "../approvals/approval-releases.ts";
import type { ApprovalRenewal } from "../approvals/approval-renewal.ts";
import { approvalRequests } from "../approvals/approval-requests.ts";
import type { AppliedChanges } from "../change-control/held-changes.ts";
import { references } from "../change-control/references.ts";
import type { FeedLoop } from "../feed/feed.ts";
import { definitionRate } from "../gates/definition-rate.ts";
import { passwordGuesses } from "../http/password-guesses.ts";
import type { Route } from "../http/route.ts";
import { providerCatalogue } from "../providers/catalogue.ts";
import { apiKeyRoutes } from "../routes/accounts/api-keys.ts";
import { authRoutes } from "../routes/accounts/auth.ts";
import { capabilityRoutes } from "../routes/accounts/capabilities.ts";
import { linkRoutes } from "../routes/accounts/links.ts";
import { memberRoutes } from "../routes/accounts/members.ts";
import { sessionRoutes } from "../routes/accounts/sessions.ts";
import { actionRoutes } from "../routes/agents/actions.ts";
import { agentRoutes } from "../routes/agents/agents.ts";
import { executeRoutes } from "../routes/agents/execute.ts";
import { approvalRoutes } from "../routes/approvals/approvals.ts";
import { auditRoutes } from "../routes/audit/audit.ts";
import { auditStreamRoutes } from "../routes/audit/audit-stream.ts";
import { billingRoutes } from "../routes/billing/billing.ts";
import { checkoutRoutes } from "../routes/billing/checkout.ts";
import { bundleRoutes } from "../routes/bundles/bundles.ts";
import { endpointRoutes } from "../routes/endpoints/endpoints.ts";
import { eventTraceRoutes } from "../routes/events/event-trace.ts";
import { eventRoutes } from "../routes/events/events.ts";
import { signatureFailureRoutes } from "../routes/events/signature-failures.ts";
import { operationsRoutes } from "../routes/operations/operations.ts";
import { type Component, statusRoutes } from "../routes/operations/status.ts";
import { policyRoutes } from "../routes/policies/policies.ts";
import { policyLedgerRoutes } from "../routes/policies/policy-ledger.ts";
import { replayRoutes } from "../routes/replays/replays.ts";
import { sourceRoutes } from "../routes/sources/sources.ts";
import { PAYLOAD_BYTES_MAX } from "../streams/payloads.ts";
import type { Foundation } from "./foundation.ts";
import type { Members } from "./members.ts";
import type { Parts } from "./part.ts";
import type { Requests } from "./requests.ts";

export type RoutesDeps = {
  readonly requests: Requests;
  readonly members: Members;
  readonly changes: AppliedChanges;
  readonly renewal: ApprovalRenewal;
  /** Null: this process publishes nothing to Kafka. */
  readonly feed: FeedLoop | null;
  readonly parts: Parts;
  /** The parts of the public status page. */
  readonly components: readonly Component[];
  readonly startedAt: number;
};

const operations = (it: Foundation, { parts, feed, startedAt }: RoutesDeps): readonly Route[] => {
  const { config, places, log, positions } = it;
  const shownAt = <T extends { readonly position: Position | null }>(progress: T): T => ({
    ...progress,
    position: progress.position === null ? null : positions.of(progress.position),
  });
  return operationsRoutes({
    version: config.version,
    commit: config.commit,
    publicUrl: it.publicUrl,
    signup: config.signup,
    startedAt,
    clock: it.clock,
    checks: parts.checks("unready"),
    informational: parts.checks("degraded", "informational"),
    runtime: async () => ({
      engines: { log: places.log.engine, views: places.views.engine, feed: config.kafka === null ? "none" : "kafka" },
      erasure: { bytes_removed: log.bytesRemoved },
      roles: config.roles,
      projections: (await it.projector.progress()).map(shownAt),
      feed: feed === null ? null : shownAt(feed.status()),
    }),
  });
};

const peopleRoutes = (it: Foundation, { members }: RoutesDeps): readonly Route[] => [
  ...authRoutes({ ...it, ...members, guesses: passwordGuesses(members.attempts, sleep) }),
  ...linkRoutes(members),
  ...sessionRoutes({ ...it, sessions: members.sessions }),
  ...memberRoutes({ ...it, ...members }),
  ...apiKeyRoutes(it),
  ...capabilityRoutes({
    planOf: it.accountOf,
    providers: providerCatalogue(),
    maxPayloadBytes: PAYLOAD_BYTES_MAX,
  }),
  ...billingRoutes({ ...it, provider: it.provider.name }),
  ...checkoutRoutes(it),
];

const configurationRoutes = (it: Foundation, { requests: { deliver, definitions } }: RoutesDeps): readonly Route[] => {
  const configuring = { ...it, ...references(it.aggregates), definitionRate: definitionRate(it.clock) };
  return [
    ...sourceRoutes(configuring),
    ...endpointRoutes({ ...configuring, wake: () => deliver.wake() }),
    ...policyRoutes({ ...configuring, compile: definitions.policy }),
    ...policyLedgerRoutes(it),
    ...agentRoutes(configuring),
    ...actionRoutes({ ...configuring, compile: definitions.action }),
  ];
};

const requestRoutes = (shared: Foundation, { requests: at, changes, renewal }: RoutesDeps): readonly Route[] => {
  const it = { ...shared, bodyReader: at.bodyReader };
  const { replayer, startBulkReplay, bulkReplayer } = at;
  return [
    ...signatureFailureRoutes(it),
    ...executeRoutes({ ...it, execute: at.execute, outcomes: at.eventOutcomes }),
    ...eventTraceRoutes({ ...it, version: it.config.version, serviceName: it.config.serviceName }),
    ...bundleRoutes({ ...it, begin: at.beginBundle, approvals: approvalRequests(it), outcomes: at.bundleOutcomes }),
    ...eventRoutes(it),
    ...replayRoutes({ ...it, replayer, startBulkReplay, bulkReplayer }),
    ...approvalRoutes({ ...it, releases: approvalReleases(it), renewal, changes }),
    ...auditRoutes(it),
    ...auditStreamRoutes({ ...it, onError: it.errorsOf("audit stream", "looking for new records") }),
  ];
};

/** Every row of the API. */
export const routes = (it: Foundation, deps: RoutesDeps): readonly Route[] => [
  ...operations(it, deps),
  ...peopleRoutes(it, deps),
  ...configurationRoutes(it, deps),
  ...requestRoutes(it, deps),
  ...statusRoutes({ ...it, components: deps.components }),
];
