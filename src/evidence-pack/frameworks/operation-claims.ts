import type { JsonObject } from "../../../domain/json.ts";
import { changesApproved, protectedPoliciesApproved } from "./approval-claims.ts";
import { counted, distinct, listed } from "./claims.ts";

export const budgetsKept: JsonObject = {
  id: "budgets-kept",
  statement:
    "No reservation of money exceeded the budget of its policy and day. The ledger of each policy and day is added up again from its records.",
  query: { ask: "budgets" },
};

const weakenings = listed("weakenings", "These changes of the configuration weakened a control, for these reasons.", {
  type: ["ControlsWeakened"],
  show: { what: "/data/change/kind", which: "/data/change/id", by: "/data/by", "why it weakens": "/data/reasons" },
  first: 50,
});

const protectionLifts = counted(
  "protection-lifts",
  "The protection of policies was lifted, or a lift was asked for, on the operator's machine so often.",
  { type: ["ProtectionLiftRequested", "ProtectionLifted", "ProtectionLiftCancelled"] },
);

const configurationChanges = distinct(
  "configuration-changes",
  "The parts of the configuration on which approvals depend were changed so often, by kind of part.",
  { type: ["ControlsChanged", "ControlsWeakened"], at: "/data/change/kind" },
);

const policyVersions = listed(
  "policy-versions",
  "These versions of policies were published, by these people and keys.",
  {
    type: ["PolicyPublished"],
    show: {
      policy: "/data/policy_id",
      version: "/data/version",
      name: "/data/definition/name",
      by: "/data/created_by",
    },
    first: 50,
  },
);

/** Who changed the configuration, and who approved it. */
export const CHANGE_CLAIMS: readonly JsonObject[] = [
  protectedPoliciesApproved,
  changesApproved,
  weakenings,
  protectionLifts,
  configurationChanges,
  policyVersions,
];

export const decisions = distinct(
  "decisions",
  "The gates decided so on requests; each record has the verdict of every gate that was asked.",
  {
    type: ["EventAdmitted", "EventBlocked", "EventHeld", "BundleAdmitted", "BundleBlocked", "BundleHeld"],
    at: "/data/verdict/decision",
  },
);

export const decidedByPolicy = distinct(
  "decided-by-policy",
  "So many requests were refused or held, by the policy that was asked.",
  { type: ["EventBlocked", "EventHeld", "BundleBlocked", "BundleHeld"], at: "/data/verdict/policy/id" },
);

export const forgeriesCounted = distinct(
  "forgeries-counted",
  "So many records count webhooks that were refused because their signature was missing, wrong or too old.",
  { type: ["SourceRejectsCounted"], at: "/data/source_id" },
);

export const endpointAlarms = distinct(
  "endpoint-alarms",
  "The service recorded these changes of its receivers' health, and these budgets that came near their limit.",
  {
    type: [
      "EndpointDegraded",
      "EndpointOpened",
      "EndpointWarned",
      "EndpointDisabled",
      "EndpointRecovered",
      "BudgetThresholdReached",
    ],
    at: "/type",
  },
);

export const suspensions = listed("suspensions", "These agents were suspended or resumed, for these reasons.", {
  type: ["AgentSuspended", "AgentResumed"],
  show: { agent: "/data/agent_id", reason: "/data/reason", by: "/actor/id" },
});

export const rejections = listed(
  "rejections",
  "These approvals were rejected, expired or were cancelled, so that what they held was not done.",
  {
    type: ["ApprovalRejected", "ApprovalExpired", "ApprovalCancelled", "ApprovalVoided"],
    show: { approval: "/data/approval_id", of: "/data/subject/id", reason: "/data/reason" },
  },
);

export const deliveriesEnded: JsonObject = {
  id: "deliveries-ended",
  statement:
    "Each admitted event with a destination has ended by the end of the export: delivered, failed, cancelled, or held again and not released. Events that still waited then are listed as missing this.",
  query: {
    ask: "every",
    of: { type: ["EventAdmitted"], where: [{ at: "/data/endpoint_id", is_not: null }] },
    has: [
      {
        name: "an end of the delivery",
        of: { type: ["EventDelivered", "DeliveryFailed", "EventCancelled", "HoldEnded"] },
        when: "after",
        key: "/data/event_id",
      },
    ],
  },
};

export const deliveredWithAnswer: JsonObject = {
  id: "delivered-with-answer",
  statement:
    "Each delivery that counts as done had an attempt that the receiver answered with a status from 200 to 299.",
  query: {
    ask: "every",
    of: { type: ["EventDelivered"] },
    has: [
      {
        name: "the attempt that succeeded",
        of: {
          type: ["AttemptSucceeded"],
          where: [
            { at: "/data/status_code", at_least: 200 },
            { at: "/data/status_code", at_most: 299 },
          ],
        },
        when: "before",
        key: "/data/event_id",
      },
    ],
  },
};

export const admissionsOnce = counted(
  "duplicates-counted",
  "So many records count deliveries that came again under an id that was admitted already.",
  { type: ["DuplicatesCounted", "DeliveryIdReused", "MoreRepeatsCounted"] },
);

export const rollbacks = distinct("bundles-ended", "Bundles of actions ended so.", {
  type: ["BundleCommitted", "BundleRolledBack", "RollbackIncomplete"],
  at: "/type",
});

export const noDamage: JsonObject = {
  id: "no-damage",
  statement: "No stored payload was found to differ from the digest in its record.",
  query: { ask: "count", of: { type: ["PayloadDamageFound", "BundlePayloadDamageFound"] } },
  expect: { at_most: 0 },
};

export const erasures = listed(
  "erasures",
  "These payloads and personal data were erased, by these actors and for these reasons. Their records remain.",
  {
    type: ["PayloadErased", "BundlePayloadErased", "PersonalDataErased"],
    show: { of: "/subject", reason: "/data/reason", by: "/actor/id" },
  },
);

export const replays = listed("replays", "These failed deliveries were sent again, for these reasons.", {
  type: ["EventReplayed", "ReplayStarted"],
  show: { event: "/data/event_id", by: "/data/by/id", reason: "/data/reason" },
});
