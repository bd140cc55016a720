import { setTimeout as sleep } from "node:timers/promises";
import type { Position } from "../../domain/ports/event-log.ts";
import { approvalReleases } from "../approvals/approval-releases.ts";
import type { ApprovalRenewal } from "../approvals/approval-renewal.ts";
import { approvalRequests } from "../approvals/approval-requests.ts";
import { AccountEvidence, NO_WITNESSES } from "../audit/account-evidence.ts";
import type { AppliedChanges } from "../change-control/held-changes.ts";
import { references } from "../change-control/references.ts";
import type { FeedLoop } from "../feed/feed-loop.ts";
import { definitionRate } from "../gates/definition-rate.ts";
import type { Authenticate } from "../http/authenticate.ts";
import { passwordGuesses } from "../http/password-guesses.ts";
import type { Route } from "../http/route.ts";
import { providerCatalogue } from "../providers/catalogue.ts";
import { accountRoutes } from "../routes/accounts/account.ts";
import { apiKeyRoutes } from "../routes/accounts/api-keys.ts";
import { authRoutes } from "../routes/accounts/auth.ts";
import { capabilityRoutes } from "../routes/accounts/capabilities.ts";
import { deviceRoutes } from "../routes/accounts/device.ts";
import { linkRoutes } from "../routes/accounts/links.ts";
import { memberRoutes } from "../routes/accounts/members.ts";
import { preferenceRoutes } from "../routes/accounts/preferences.ts";
import { sessionRoutes } from "../routes/accounts/sessions.ts";
import { actionRoutes } from "../routes/agents/actions.ts";
import { agentRoutes } from "../routes/agents/agents.ts";
import { executeRoutes } from "../routes/agents/execute.ts";
import { titlesOfApprovals } from "../routes/approvals/approval-list-titles.ts";
import { approvalRoutes } from "../routes/approvals/approvals.ts";
import { attentionRoutes } from "../routes/attention/attention.ts";
import { auditRoutes } from "../routes/audit/audit.ts";
import { auditStreamRoutes } from "../routes/audit/audit-stream.ts";
import { checkpointRoutes } from "../routes/audit/checkpoints.ts";
import { coverageRoutes } from "../routes/audit/coverage.ts";
import { exportRoutes } from "../routes/audit/export.ts";
import { titlesOf } from "../routes/audit/subject-titles.ts";
import { billingRoutes } from "../routes/billing/billing.ts";
import { checkoutRoutes } from "../routes/billing/checkout.ts";
import { bundleRoutes } from "../routes/bundles/bundles.ts";
import { directoryRoutes } from "../routes/directory/directory.ts";
import { namesOf } from "../routes/directory/names.ts";
import { endpointRoutes } from "../routes/endpoints/endpoints.ts";
import { eventTraceRoutes } from "../routes/events/event-trace.ts";
import { eventRoutes } from "../routes/events/events.ts";
import { signatureFailureRoutes } from "../routes/events/signature-failures.ts";
import type { ConsoleBundle } from "../routes/operations/console.ts";
import { operationsRoutes } from "../routes/operations/operations.ts";
import { type Component, statusRoutes } from "../routes/operations/status.ts";
import { policyRoutes } from "../routes/policies/policies.ts";
import { policyLedgerRoutes } from "../routes/policies/policy-ledger.ts";
import { policyValidationRoutes } from "../routes/policies/policy-validation.ts";
import { replayRoutes } from "../routes/replays/replays.ts";
import { sampleRoutes } from "../routes/sources/sample.ts";
import { sourceRoutes } from "../routes/sources/sources.ts";
import { statsRoutes } from "../routes/stats/stats.ts";
import { streamRoutes } from "../routes/stream/stream.ts";
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
  /** Null if this process publishes nothing to Kafka. */
  readonly feed: FeedLoop | null;
  readonly parts: Parts;
  readonly components: readonly Component[];
  readonly startedAt: number;
  readonly consoleBundle: ConsoleBundle;
  readonly authenticate: Authenticate;
};

const operations = (
  foundation: Foundation,
  { parts, feed, startedAt, consoleBundle, authenticate }: RoutesDeps,
): readonly Route[] => {
  const { config, locations, log, positions } = foundation;
  const shownAt = <T extends { readonly position: Position | null }>(progress: T): T => ({
    ...progress,
    position: progress.position === null ? null : positions.of(progress.position),
  });
  return operationsRoutes({
    version: config.version,
    commit: config.commit,
    publicUrl: foundation.publicUrl,
    consoleBundle,
    authenticate,
    startedAt,
    clock: foundation.clock,
    checks: parts.checks("unready"),
    informational: parts.checks("degraded", "informational"),
    runtime: async () => ({
      engines: {
        log: locations.log.engine,
        views: locations.views.engine,
        feed: config.kafka === null ? "none" : "kafka",
      },
      erasure: { bytes_removed: log.bytesRemoved },
      roles: config.roles,
      projections: (await foundation.projector.progress()).map(shownAt),
      feed: feed === null ? null : shownAt(feed.status()),
    }),
  });
};

const peopleRoutes = (foundation: Foundation, { members }: RoutesDeps): readonly Route[] => [
  ...authRoutes({ ...foundation, ...members, guesses: passwordGuesses(members.attempts, sleep) }),
  ...linkRoutes({ ...members, personal: foundation.personal }),
  ...deviceRoutes({ ...foundation, ...members }),
  ...sessionRoutes({ ...foundation, sessions: members.sessions }),
  ...memberRoutes({ ...foundation, ...members }),
  ...preferenceRoutes(foundation),
  ...accountRoutes(foundation),
  ...apiKeyRoutes(foundation),
  ...directoryRoutes(foundation),
  ...capabilityRoutes({
    planOf: async (account) => foundation.accountOf(account),
    providers: providerCatalogue(),
    maxPayloadBytes: PAYLOAD_BYTES_MAX,
  }),
  ...billingRoutes({ ...foundation, provider: foundation.provider.name }),
  ...checkoutRoutes(foundation),
];

const configurationRoutes = (
  foundation: Foundation,
  { requests: { admit, deliver, definitions } }: RoutesDeps,
): readonly Route[] => {
  const configuring = {
    ...foundation,
    ...references(foundation.aggregates),
    definitionRate: definitionRate(foundation.clock),
  };
  return [
    ...sourceRoutes(configuring),
    ...sampleRoutes({ ...foundation, admit }),
    ...endpointRoutes({ ...configuring, wake: () => deliver.wake() }),
    ...policyRoutes({ ...configuring, compile: definitions.policy }),
    ...policyValidationRoutes({
      ...foundation,
      compile: definitions.policy,
      validationRate: definitionRate(foundation.clock),
    }),
    ...policyLedgerRoutes(foundation),
    ...agentRoutes(configuring),
    ...actionRoutes({ ...configuring, compile: definitions.action }),
  ];
};

/** Null on a node that folds no evidence. */
const evidenceOf = ({ evidence, sealing, cosigned }: Foundation): AccountEvidence | null =>
  evidence == null || sealing === null
    ? null
    : new AccountEvidence(evidence.store, sealing, cosigned?.witnessed ?? NO_WITNESSES);

const evidenceRoutes = (shared: Foundation): readonly Route[] => {
  const foundation = { ...shared, evidence: evidenceOf(shared) };
  return [
    ...auditRoutes({
      ...foundation,
      namesOf: (account, ids) => namesOf(foundation, account, ids),
      titlesOf: (account, ids) => titlesOf(foundation, account, ids),
    }),
    ...streamRoutes({ ...foundation, onError: foundation.errorsOf("stream", "looking for changes") }),
    ...auditStreamRoutes({ ...foundation, onError: foundation.errorsOf("audit stream", "looking for new records") }),
    ...checkpointRoutes(foundation),
    ...coverageRoutes(foundation),
    ...exportRoutes(foundation),
  ];
};

const requestRoutes = (shared: Foundation, { requests, changes, renewal }: RoutesDeps): readonly Route[] => {
  const foundation = { ...shared, bodyReader: requests.bodyReader };
  const { replayer, startBulkReplay, bulkReplayer } = requests;
  return [
    ...signatureFailureRoutes(foundation),
    ...executeRoutes({ ...foundation, execute: requests.execute, outcomes: requests.eventOutcomes }),
    ...eventTraceRoutes({
      ...foundation,
      version: foundation.config.version,
      serviceName: foundation.config.serviceName,
    }),
    ...bundleRoutes({
      ...foundation,
      begin: requests.beginBundle,
      approvals: approvalRequests(foundation),
      outcomes: requests.bundleOutcomes,
    }),
    ...eventRoutes(foundation),
    ...statsRoutes(foundation),
    ...attentionRoutes({
      ...foundation,
      titlesOf: (ids, reader) => titlesOfApprovals(foundation, ids, reader),
    }),
    ...replayRoutes({ ...foundation, replayer, startBulkReplay, bulkReplayer }),
    ...approvalRoutes({ ...foundation, releases: approvalReleases(foundation), renewal, changes }),
  ];
};

export const buildRoutes = (foundation: Foundation, deps: RoutesDeps): readonly Route[] => [
  ...operations(foundation, deps),
  ...peopleRoutes(foundation, deps),
  ...configurationRoutes(foundation, deps),
  ...requestRoutes(foundation, deps),
  ...evidenceRoutes(foundation),
  ...statusRoutes({ ...foundation, components: deps.components }),
];
