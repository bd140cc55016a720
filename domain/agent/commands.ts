import type { Words } from "../personal/words.ts";
import type { AgentKey, AgentSettings } from "./events.ts";

/** `account` is the caller's, so that an agent of another account is not found. */
export type AgentCommand =
  | {
      readonly type: "RegisterAgent";
      readonly agentId: string;
      readonly account: string;
      readonly settings: AgentSettings;
      readonly key: AgentKey;
      readonly at: string;
    }
  | {
      readonly type: "ChangeAgent";
      readonly account: string;
      readonly changes: Partial<AgentSettings>;
      readonly at: string;
    }
  | { readonly type: "RotateAgentKey"; readonly account: string; readonly key: AgentKey; readonly at: string }
  | { readonly type: "SuspendAgent"; readonly account: string; readonly reason: Words; readonly at: string }
  | { readonly type: "ResumeAgent"; readonly account: string; readonly at: string }
  | { readonly type: "DeleteAgent"; readonly account: string; readonly at: string };
