import type { JsonObject } from "../../../domain/json.ts";

export const budgetsKept: JsonObject = {
  id: "budgets-kept",
  statement:
    "No reservation of money exceeded the budget of its policy and day. The ledger of each policy and day is added up again from its records.",
  query: { ask: "budgets" },
};

export const weakenings: JsonObject = {
  id: "weakenings",
  statement: "These changes of the configuration weakened a control, for these reasons.",
  query: {
    ask: "list",
    of: { type: ["ControlsWeakened"] },
    show: [
      { label: "what", at: "/data/change/kind" },
      { label: "which", at: "/data/change/id" },
      { label: "by", at: "/data/by" },
      { label: "why it weakens", at: "/data/reasons" },
    ],
    first: 50,
  },
};

export const protectionLifts: JsonObject = {
  id: "protection-lifts",
  statement: "The protection of policies was lifted, or a lift was asked for, on the operator's machine so often.",
  query: { ask: "count", of: { type: ["ProtectionLiftRequested", "ProtectionLifted", "ProtectionLiftCancelled"] } },
};

export const configurationChanges: JsonObject = {
  id: "configuration-changes",
  statement: "The parts of the configuration on which approvals depend were changed so often, by kind of part.",
  query: { ask: "distinct", of: { type: ["ControlsChanged", "ControlsWeakened"] }, at: "/data/change/kind" },
};

export const policyVersions: JsonObject = {
  id: "policy-versions",
  statement: "These versions of policies were published, by these people and keys.",
  query: {
    ask: "list",
    of: { type: ["PolicyPublished"] },
    show: [
      { label: "policy", at: "/data/policy_id" },
      { label: "version", at: "/data/version" },
      { label: "name", at: "/data/definition/name" },
      { label: "by", at: "/data/created_by" },
    ],
    first: 50,
  },
};

export const decisions: JsonObject = {
  id: "decisions",
  statement: "The gates decided so on requests; each record has the verdict of every gate that was asked.",
  query: {
    ask: "distinct",
    of: { type: ["EventAdmitted", "EventBlocked", "EventHeld", "BundleAdmitted", "BundleBlocked", "BundleHeld"] },
    at: "/data/verdict/decision",
  },
};

export const decidedByPolicy: JsonObject = {
  id: "decided-by-policy",
  statement: "So many requests were refused or held, by the policy that was asked.",
  query: {
    ask: "distinct",
    of: { type: ["EventBlocked", "EventHeld", "BundleBlocked", "BundleHeld"] },
    at: "/data/verdict/policy/id",
  },
};

export const forgeriesCounted: JsonObject = {
  id: "forgeries-counted",
  statement: "So many records count webhooks that were refused because their signature was missing, wrong or too old.",
  query: { ask: "distinct", of: { type: ["SourceRejectsCounted"] }, at: "/data/source_id" },
};

export const endpointAlarms: JsonObject = {
  id: "endpoint-alarms",
  statement:
    "The service recorded these changes of its receivers' health, and these budgets that came near their limit.",
  query: {
    ask: "distinct",
    of: {
      type: [
        "EndpointDegraded",
        "EndpointOpened",
        "EndpointWarned",
        "EndpointDisabled",
        "EndpointRecovered",
        "BudgetThresholdReached",
      ],
    },
    at: "/type",
  },
};

export const suspensions: JsonObject = {
  id: "suspensions",
  statement: "These agents were suspended or resumed, for these reasons.",
  query: {
    ask: "list",
    of: { type: ["AgentSuspended", "AgentResumed"] },
    show: [
      { label: "agent", at: "/data/agent_id" },
      { label: "reason", at: "/data/reason" },
      { label: "by", at: "/actor/id" },
    ],
  },
};

export const rejections: JsonObject = {
  id: "rejections",
  statement: "These approvals were rejected, expired or were cancelled, so that what they held was not done.",
  query: {
    ask: "list",
    of: { type: ["ApprovalRejected", "ApprovalExpired", "ApprovalCancelled", "ApprovalVoided"] },
    show: [
      { label: "approval", at: "/data/approval_id" },
      { label: "of", at: "/data/subject/id" },
      { label: "reason", at: "/data/reason" },
    ],
  },
};

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

export const admissionsOnce: JsonObject = {
  id: "duplicates-counted",
  statement: "So many records count deliveries that came again under an id that was admitted already.",
  query: { ask: "count", of: { type: ["DuplicatesCounted", "DeliveryIdReused", "MoreRepeatsCounted"] } },
};

export const rollbacks: JsonObject = {
  id: "bundles-ended",
  statement: "Bundles of actions ended so.",
  query: {
    ask: "distinct",
    of: { type: ["BundleCommitted", "BundleRolledBack", "RollbackIncomplete"] },
    at: "/type",
  },
};

export const noDamage: JsonObject = {
  id: "no-damage",
  statement: "No stored payload was found to differ from the digest in its record.",
  query: { ask: "count", of: { type: ["PayloadDamageFound", "BundlePayloadDamageFound"] } },
  expect: { at_most: 0 },
};

export const erasures: JsonObject = {
  id: "erasures",
  statement:
    "These payloads and personal data were erased, by these actors and for these reasons. Their records remain.",
  query: {
    ask: "list",
    of: { type: ["PayloadErased", "BundlePayloadErased", "PersonalDataErased"] },
    show: [
      { label: "of", at: "/subject" },
      { label: "reason", at: "/data/reason" },
      { label: "by", at: "/actor/id" },
    ],
  },
};

export const replays: JsonObject = {
  id: "replays",
  statement: "These failed deliveries were sent again, for these reasons.",
  query: {
    ask: "list",
    of: { type: ["EventReplayed", "ReplayStarted"] },
    show: [
      { label: "event", at: "/data/event_id" },
      { label: "by", at: "/data/by/id" },
      { label: "reason", at: "/data/reason" },
    ],
  },
};
