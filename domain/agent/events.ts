import type { Scope } from "./scope.ts";

export type AgentSettings = {
  readonly name: string;
  /** The policy that all requests of the agent have to pass; null for none. */
  readonly policy_id: string | null;
  readonly scope: Scope;
};

/** The key itself is shown once and not stored. */
export type AgentKey = {
  readonly key_id: string;
  /** Hex HMAC over the key, the account and the agent (`src/accounts/credential-hashes.ts`). */
  readonly digest: string;
  readonly last4: string;
};

/** Stream `agent-<id>`. Times are ISO-8601 UTC with milliseconds. */
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
  /** The previous key is invalid from here on. */
  | { readonly type: "AgentKeyRotated"; readonly data: AgentKey & { readonly agent_id: string; readonly at: string } }
  | {
      readonly type: "AgentSuspended";
      readonly data: { readonly agent_id: string; readonly reason: string; readonly at: string };
    }
  | { readonly type: "AgentResumed"; readonly data: { readonly agent_id: string; readonly at: string } }
  | { readonly type: "AgentDeleted"; readonly data: { readonly agent_id: string; readonly at: string } };
