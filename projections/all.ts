import { actions } from "./actions.ts";
import { agents } from "./agents.ts";
import { apiKeys } from "./api-keys.ts";
import { approvals } from "./approvals.ts";
import { audit } from "./audit.ts";
import { billing } from "./billing.ts";
import { bundles } from "./bundles.ts";
import { deliveryQueue } from "./delivery-queue.ts";
import { endpoints } from "./endpoints.ts";
import { events } from "./events.ts";
import { gateDenials } from "./gate-denials.ts";
import { members } from "./members.ts";
import { policies, policyVersions } from "./policies.ts";
import type { Projection } from "./projection.ts";
import { replays } from "./replays.ts";
import { retention } from "./retention.ts";
import { sessions } from "./sessions.ts";
import { signatureFailures } from "./signature-failures.ts";
import { sources } from "./sources.ts";
import { stats } from "./stats.ts";
import { status } from "./status.ts";
import { usage } from "./usage.ts";

export const PROJECTIONS: readonly Projection[] = [
  events,
  deliveryQueue,
  endpoints,
  audit,
  usage,
  billing,
  status,
  members,
  sessions,
  apiKeys,
  sources,
  policies,
  policyVersions,
  agents,
  actions,
  approvals,
  bundles,
  replays,
  gateDenials,
  signatureFailures,
  retention,
  stats,
];
