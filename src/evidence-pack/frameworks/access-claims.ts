import type { JsonObject } from "../../../domain/json.ts";
import { distinct, listed } from "./claims.ts";

export const membersInvited: JsonObject = {
  id: "members-invited",
  statement: "Each member who joined by an invitation had been invited before, with the role that the member got.",
  query: {
    ask: "every",
    of: { type: ["MemberAdded"], where: [{ at: "/data/invited_by/kind", exists: true }] },
    has: [
      {
        name: "the invitation",
        of: { type: ["MemberInvited"] },
        when: "before",
        key: "/data/member",
        compare: [{ at: "/data/role", equals: { of: "subject", at: "/data/role" } }],
      },
    ],
  },
};

export const memberChanges = listed(
  "member-changes",
  "These are the members who were invited, joined, changed their role, or were removed.",
  {
    type: ["MemberInvited", "MemberAdded", "MemberRoleChanged", "MemberRemoved", "InvitationWithdrawn"],
    show: { member: "/data/member", role: "/data/role", "role before": "/data/previous_role", by: "/actor/id" },
    first: 50,
  },
);

export const keyChanges = listed(
  "key-changes",
  "These are the API keys and agents' keys that were made, rotated or revoked.",
  {
    type: ["ApiKeyCreated", "ApiKeyRevoked", "AgentRegistered", "AgentKeyRotated", "AgentDeleted"],
    show: {
      key: "/data/key_id",
      agent: "/data/agent_id",
      role: "/data/role",
      expires: "/data/expires_at",
      by: "/actor/id",
    },
    first: 50,
  },
);

export const noSessionAfterRemoval: JsonObject = {
  id: "no-session-after-removal",
  statement: "No session was opened for a member after that member's removal.",
  query: {
    ask: "every",
    of: { type: ["SessionOpened"] },
    has: [
      {
        name: "membership as the last word on the member",
        of: { type: ["MemberAdded", "MemberRemoved"] },
        when: "latest",
        key: "/data/member",
        must_be: { type: ["MemberAdded"] },
        or_none: true,
      },
    ],
  },
};

export const keysInForce: JsonObject = {
  id: "keys-in-force",
  statement:
    "Each record of what an API key did comes after the record of that key, and before its revocation. A call that was under way during the revocation may stand after it.",
  query: {
    ask: "every",
    of: { actor: ["key"] },
    has: [
      {
        name: "the key as the last word, not its revocation",
        of: { type: ["ApiKeyCreated", "ApiKeyRevoked"] },
        when: "latest",
        key: "/data/key_id",
        match: { of: "subject", at: "/actor/id" },
        must_be: { type: ["ApiKeyCreated"] },
      },
    ],
  },
};

export const agentsInForce: JsonObject = {
  id: "agents-in-force",
  statement:
    "No request of an agent was admitted while the agent was suspended or deleted. A request that was under way at that moment may stand after it.",
  query: {
    ask: "every",
    of: { type: ["EventAdmitted"], where: [{ at: "/data/origin/kind", is: "agent" }] },
    has: [
      {
        name: "the agent's registration or resumption as the last word",
        of: { type: ["AgentRegistered", "AgentSuspended", "AgentResumed", "AgentDeleted"] },
        when: "latest",
        key: "/data/agent_id",
        match: { of: "subject", at: "/data/origin/id" },
        must_be: { type: ["AgentRegistered", "AgentResumed"] },
      },
    ],
  },
};

export const callsRefused = distinct(
  "calls-refused",
  "Calls were refused for these reasons. Refusals beyond the first of a kind in a minute are counted in further records.",
  { type: ["CallsRefused"], at: "/data/problem" },
);

export const payloadsRead = listed(
  "payloads-read",
  "These are records of members and keys that read a payload with nothing hidden, or had hidden fields shown.",
  {
    type: ["PayloadRead", "MorePayloadsRead", "HiddenFieldsRevealed"],
    show: { by: "/actor/id", of: "/data/subject", approval: "/data/approval_id", times: "/data/count" },
  },
);
