import type { JsonObject } from "../../../domain/json.ts";

const THE_REQUEST = "the request for the approval";

const votes: JsonObject = {
  name: "enough votes by different members who do not count as the requester",
  of: { type: ["VoteCast"], where: [{ at: "/data/decision", is: "approve" }] },
  when: "before",
  key: "/data/approval_id",
  match: { of: THE_REQUEST, at: "/data/approval_id" },
  distinct: "/data/member_id",
  at_least: { of: THE_REQUEST, at: "/data/min_approvals" },
  compare: [
    { at: "/data/digest", equals: { of: THE_REQUEST, at: "/data/digest" } },
    {
      at: "/data/member_id",
      not_in: { of: THE_REQUEST, at: "/data/requesters" },
      only_if: { of: THE_REQUEST, at: "/data/exclude_requester", is: true },
    },
  ],
};

const grant: JsonObject = {
  name: "the grant of that approval",
  of: { type: ["ApprovalGranted"] },
  when: "before",
  key: "/data/approval_id",
  match: { of: THE_REQUEST, at: "/data/approval_id" },
  compare: [{ at: "/data/digest", equals: { of: THE_REQUEST, at: "/data/digest" } }],
};

const request: JsonObject = {
  name: THE_REQUEST,
  of: { type: ["ApprovalRequested"] },
  when: "before",
  key: "/data/approval_id",
};

const requestOfSameDigest: JsonObject = {
  ...request,
  compare: [{ at: "/data/digest", equals: { of: "subject", at: "/data/digest" } }],
};

export const releasesApproved: JsonObject = {
  id: "releases-approved",
  statement:
    "Each held event that was released had, before its release, an approval of the same digest, with as many votes by different members as the approval asked for, and none of them by whoever counts as the requester where that was excluded.",
  query: { ask: "every", of: { type: ["EventReleased"] }, has: [requestOfSameDigest, votes, grant] },
};

export const bundlesApproved: JsonObject = {
  id: "bundles-approved",
  statement: "The same holds for each held bundle of actions that was released.",
  query: { ask: "every", of: { type: ["BundleReleased"] }, has: [requestOfSameDigest, votes, grant] },
};

export const changesApproved: JsonObject = {
  id: "held-changes-approved",
  statement:
    "Each change of the configuration that was held, because it weakens a protected policy, and then applied had such an approval before it was applied.",
  query: { ask: "every", of: { type: ["ChangeApplied"] }, has: [request, votes, grant] },
};

export const protectedPoliciesApproved: JsonObject = {
  id: "protected-policies-approved",
  statement:
    "Each weakening change of a policy that was protected until then had an approval of a change of this policy before it, or its protection had been lifted on the operator's machine.",
  query: {
    ask: "every",
    of: {
      type: ["ControlsWeakened"],
      where: [
        { at: "/data/change/kind", is: "policy" },
        { at: "/data/before/protected", is: true },
      ],
    },
    any_of: [
      [
        {
          name: THE_REQUEST,
          of: { type: ["ApprovalRequested"], where: [{ at: "/data/change/target/kind", is: "policy" }] },
          when: "before",
          key: "/data/change/target/id",
          match: { of: "subject", at: "/data/change/id" },
        },
        votes,
        grant,
      ],
      [
        {
          name: "an approval, or a lift of the protection",
          of: { type: ["ProtectionLifted"] },
          when: "before",
          key: "/data/policy_id",
          match: { of: "subject", at: "/data/change/id" },
        },
      ],
    ],
  },
};

export const noAttemptWhileHeld: JsonObject = {
  id: "no-attempt-while-held",
  statement:
    "No attempt of a delivery began for an event that was refused, or that was held and not released: the last decision on the event before each attempt admitted or released it.",
  query: {
    ask: "every",
    of: { type: ["AttemptStarted"] },
    has: [
      {
        name: "an admission or a release as the last decision",
        of: { type: ["EventAdmitted", "EventBlocked", "EventHeld", "EventHeldAgain", "EventReleased"] },
        when: "latest",
        key: "/data/event_id",
        must_be: { type: ["EventAdmitted", "EventReleased"] },
      },
    ],
  },
};

export const noStepWhileHeld: JsonObject = {
  id: "no-step-while-held",
  statement: "No step of a bundle started while the bundle was held, or after it was refused.",
  query: {
    ask: "every",
    of: { type: ["StepStarted"] },
    has: [
      {
        name: "an admission or a release of the bundle as the last decision",
        of: { type: ["BundleAdmitted", "BundleBlocked", "BundleHeld", "BundleHeldAgain", "BundleReleased"] },
        when: "latest",
        key: "/data/bundle_id",
        must_be: { type: ["BundleAdmitted", "BundleReleased"] },
      },
    ],
  },
};

export const votersMayVote: JsonObject = {
  id: "voters-were-approvers",
  statement: "Each vote was cast by somebody who was a member at that point, with a role that may approve.",
  query: {
    ask: "every",
    of: { type: ["VoteCast"] },
    has: [
      {
        name: "membership with the role owner, admin or approver as the last word on the member",
        of: { type: ["MemberAdded", "MemberRoleChanged", "MemberRemoved"] },
        when: "latest",
        key: "/data/member",
        match: { of: "subject", at: "/data/member_id" },
        must_be: {
          type: ["MemberAdded", "MemberRoleChanged"],
          where: [{ at: "/data/role", in: ["owner", "admin", "approver"] }],
        },
      },
    ],
  },
};
