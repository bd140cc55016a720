import { actionsView } from "./actions.ts";
import { agentsView } from "./agents.ts";
import { apiKeysView } from "./api-keys.ts";
import { approvalsView } from "./approvals.ts";
import { auditView } from "./audit.ts";
import { billingView } from "./billing.ts";
import { bundlesView } from "./bundles.ts";
import { deliveryQueueView } from "./delivery-queue.ts";
import { endpointsView } from "./endpoints.ts";
import { eventsView } from "./events.ts";
import { gateDenialsView } from "./gate-denials.ts";
import { membersView } from "./members.ts";
import { policiesView, policyVersionsView } from "./policies.ts";
import type { PublishedView } from "./published-view.ts";
import { replaysView } from "./replays.ts";
import { retentionView } from "./retention.ts";
import { sessionsView } from "./sessions.ts";
import { signatureFailuresView } from "./signature-failures.ts";
import { sourcesView } from "./sources.ts";
import { statsView } from "./stats.ts";
import { statusView } from "./status.ts";
import { usageView } from "./usage.ts";

export const PUBLISHED: readonly PublishedView[] = [
  eventsView,
  deliveryQueueView,
  endpointsView,
  auditView,
  usageView,
  billingView,
  statusView,
  membersView,
  sessionsView,
  apiKeysView,
  sourcesView,
  policiesView,
  policyVersionsView,
  agentsView,
  actionsView,
  approvalsView,
  bundlesView,
  replaysView,
  gateDenialsView,
  signatureFailuresView,
  retentionView,
  statsView,
];
