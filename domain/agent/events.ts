import type { Words } from "../personal/words.ts";
import type { Scope } from "./scope.ts";

export type AgentSettings = {
  readonly name: string;
  /** The policy that applies to all requests of the agent; null if it has none. */
  readonly policy_id: string | null;
  readonly scope: Scope;
};

/** The key itself is shown to its maker once and never stored. */
export type AgentKey = {
  readonly key_id: string;
  readonly digest: string;
  readonly last4: string;
};

export type AgentEvent =
  | {
      readonly type: "AgentRegistered";
      readonly data: AgentSettings &
        AgentKey & { readonly agent_id: string; readonly account: string; readonly at: string };
    }
  | {
      readonly type: "AgentChanged";
      readonly data: { readonly agent_id: string; readonly changes: Partial<AgentSettings>; readonly at: string };
    }
  | { readonly type: "AgentKeyRotated"; readonly data: AgentKey & { readonly agent_id: string; readonly at: string } }
  | {
      readonly type: "AgentSuspended";
      readonly data: { readonly agent_id: string; readonly reason: Words; readonly at: string };
    }
  | { readonly type: "AgentResumed"; readonly data: { readonly agent_id: string; readonly at: string } }
  | { readonly type: "AgentDeleted"; readonly data: { readonly agent_id: string; readonly at: string } };
