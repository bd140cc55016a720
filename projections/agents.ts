import type { AgentEvent, AgentSettings } from "../domain/agent/events.ts";
import type { Words } from "../domain/personal/words.ts";
import { eventOf, perDocument } from "./projection.ts";

export type AgentDocument = AgentSettings & {
  readonly account: string;
  readonly last4: string;
  readonly status: "active" | "suspended";
  readonly suspended_reason: Words | null;
  readonly suspended_at: string | null;
  readonly created_at: string;
};

/** A deleted agent has no document; the audit log still shows it. */
export const agents = perDocument<AgentDocument>(
  {
    name: "agents.v1",
    fields: { account: "text", created_at: "text" },
    indexes: [["account", "created_at"]],
  },
  ({ stream, data: { agent_id } }) => (stream.startsWith("agent-") && typeof agent_id === "string" ? agent_id : null),
  (document, recorded) => {
    const event = eventOf<AgentEvent>(recorded);
    if (event.type === "AgentRegistered") {
      const { account, name, policy_id, scope, last4, at } = event.data;
      const status = { status: "active", suspended_reason: null, suspended_at: null } as const;
      return { account, name, policy_id, scope, last4, ...status, created_at: at };
    }
    if (document === null) return null;
    switch (event.type) {
      case "AgentChanged":
        return { ...document, ...event.data.changes };
      case "AgentKeyRotated":
        return { ...document, last4: event.data.last4 };
      case "AgentSuspended":
        return {
          ...document,
          status: "suspended",
          suspended_reason: event.data.reason,
          suspended_at: event.data.at,
        };
      case "AgentResumed":
        return { ...document, status: "active", suspended_reason: null, suspended_at: null };
      case "AgentDeleted":
        return null;
    }
  },
);
