import { accept, type Decider } from "../decider.ts";
import type { ApiKeyEvent } from "./events.ts";

/** `agent` is null for a key of the account itself. */
export type ApiKeyState = { readonly account: string; readonly agent: string | null } | null;

type Issue = { readonly account: string; readonly key_id: string; readonly at: string };

export type ApiKeyCommand =
  | ({ readonly type: "IssueApiKey" } & Issue)
  | ({ readonly type: "IssueAgentKey"; readonly agent_id: string } & Issue);

/** Stream `apikey-<id>`: leads from a key to its account or agent, and says nothing else. */
export const apiKey: Decider<ApiKeyState, ApiKeyCommand, ApiKeyEvent, never> = {
  initial: null,
  evolve: (_state, { type, data }) => ({
    account: data.account,
    agent: type === "AgentKeyIssued" ? data.agent_id : null,
  }),
  decide: (command, state) => {
    if (state !== null) return accept();
    const { account, key_id, at } = command;
    return command.type === "IssueApiKey"
      ? accept({ type: "ApiKeyIssued", data: { account, key_id, at } })
      : accept({ type: "AgentKeyIssued", data: { account, agent_id: command.agent_id, key_id, at } });
  },
};
