import { accept, type Decider } from "../decider.ts";
import type { ApiKeyEvent } from "./events.ts";

/** `agent` is null for a key of the account itself. */
export type ApiKeyState = {
  readonly account: string;
  readonly agent: string | null;
  readonly madeBy: string;
} | null;

type Issue = {
  readonly account: string;
  readonly key_id: string;
  readonly made_by: string;
  readonly at: string;
};

export type ApiKeyCommand =
  | ({ readonly type: "IssueApiKey" } & Issue)
  | ({ readonly type: "IssueAgentKey"; readonly agent_id: string } & Issue);

/** Stream `apikey-<id>` outlives the key, so that the maker of a revoked key is still known. */
export const apiKey: Decider<ApiKeyState, ApiKeyCommand, ApiKeyEvent, never> = {
  initial: null,
  evolve: (_state, { type, data }) => ({
    account: data.account,
    agent: type === "AgentKeyIssued" ? data.agent_id : null,
    madeBy: data.made_by,
  }),
  decide: (command, state) => {
    if (state !== null) return accept();
    const { account, key_id, made_by, at } = command;
    return command.type === "IssueApiKey"
      ? accept({ type: "ApiKeyIssued", data: { account, key_id, made_by, at } })
      : accept({ type: "AgentKeyIssued", data: { account, agent_id: command.agent_id, key_id, made_by, at } });
  },
};
