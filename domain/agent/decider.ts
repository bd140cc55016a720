import { accept, type Decider, type Decision, reject } from "../decider.ts";
import type { Words } from "../personal/words.ts";
import { sameJson } from "../same-json.ts";
import type { AgentCommand } from "./commands.ts";
import type { AgentEvent, AgentKey, AgentSettings } from "./events.ts";

export type PresentAgent = {
  readonly phase: "present";
  readonly agentId: string;
  readonly account: string;
  readonly settings: AgentSettings;
  readonly key: AgentKey;
  readonly keySince: string;
  readonly suspended: { readonly reason: Words; readonly at: string } | null;
  /** Requests made before the latest suspension are not executed, even after the agent was resumed. */
  readonly lastSuspended: { readonly reason: Words; readonly at: string } | null;
  readonly createdAt: string;
};

export type Agent =
  | { readonly phase: "absent" }
  | PresentAgent
  | { readonly phase: "deleted"; readonly account: string };

export type AgentRejection = "not-found" | "conflict";

type Decided = Decision<AgentEvent, AgentRejection>;

const SETTINGS = ["name", "policy_id", "scope"] as const satisfies readonly (keyof AgentSettings)[];

const change = (changes: Partial<AgentSettings>, at: string, { agentId, settings }: PresentAgent): Decided => {
  const changed = SETTINGS.filter((name) => changes[name] !== undefined && !sameJson(changes[name], settings[name]));
  if (changed.length === 0) return accept();
  const entries = changed.map((name) => [name, changes[name]]);
  return accept({ type: "AgentChanged", data: { agent_id: agentId, changes: Object.fromEntries(entries), at } });
};

export const agent: Decider<Agent, AgentCommand, AgentEvent, AgentRejection> = {
  initial: { phase: "absent" },

  evolve(state, event) {
    if (event.type === "AgentRegistered") {
      const { agent_id: agentId, account, key_id, digest, last4, at: createdAt, ...settings } = event.data;
      const key = { key_id, digest, last4 };
      const times = { createdAt, keySince: createdAt };
      return { phase: "present", agentId, account, settings, key, suspended: null, lastSuspended: null, ...times };
    }
    if (state.phase !== "present") return state;
    switch (event.type) {
      case "AgentChanged":
        return { ...state, settings: { ...state.settings, ...event.data.changes } };
      case "AgentKeyRotated": {
        const { key_id, digest, last4, at: keySince } = event.data;
        return { ...state, key: { key_id, digest, last4 }, keySince };
      }
      case "AgentSuspended": {
        const { reason, at } = event.data;
        return { ...state, suspended: { reason, at }, lastSuspended: { reason, at } };
      }
      case "AgentResumed":
        return { ...state, suspended: null };
      case "AgentDeleted":
        return { phase: "deleted", account: state.account };
    }
  },

  decide(command, state) {
    if (command.type === "RegisterAgent") {
      // The id is derived from the command, so an existing agent was made by the same command.
      if (state.phase === "present" && state.account === command.account) return accept();
      if (state.phase !== "absent") return reject("conflict");
      const { agentId: agent_id, account, settings, key, at } = command;
      return accept({ type: "AgentRegistered", data: { ...settings, ...key, agent_id, account, at } });
    }
    if (state.phase !== "present" || state.account !== command.account) return reject("not-found");
    const { agentId: agent_id } = state;
    const { at } = command;
    switch (command.type) {
      case "ChangeAgent":
        return change(command.changes, at, state);
      case "RotateAgentKey":
        return accept({ type: "AgentKeyRotated", data: { ...command.key, agent_id, at } });
      case "SuspendAgent":
        if (state.suspended !== null) return accept();
        return accept({ type: "AgentSuspended", data: { agent_id, reason: command.reason, at } });
      case "ResumeAgent":
        return state.suspended === null ? accept() : accept({ type: "AgentResumed", data: { agent_id, at } });
      case "DeleteAgent":
        return accept({ type: "AgentDeleted", data: { agent_id, at } });
    }
  },
};
