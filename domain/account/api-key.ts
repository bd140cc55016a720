import { accept, type Decider } from "../decider.ts";
import type { ApiKeyEvent } from "./events.ts";

/** `agent` is null for a key of the account itself. */
export type ApiKeyState = {
  readonly account: string;
  readonly agent: string | null;
  readonly madeBy: string;
  /** The newest day on which the key was used, YYYY-MM-DD; null if it was never used. */
  readonly usedOn: string | null;
} | null;

export const isFirstUse = ({ usedOn }: NonNullable<ApiKeyState>, day: string): boolean =>
  usedOn === null || usedOn < day;

type Issue = {
  readonly account: string;
  readonly key_id: string;
  readonly made_by: string;
  readonly at: string;
};

export type ApiKeyCommand =
  | ({ readonly type: "IssueApiKey" } & Issue)
  | ({ readonly type: "IssueAgentKey"; readonly agent_id: string } & Issue)
  /** `day` is that of `at` in the account's time zone. */
  | { readonly type: "UseApiKey"; readonly key_id: string; readonly day: string; readonly at: string };

/**
 * Stream `apikey-<id>` outlives the key, so that the maker of a revoked key is still known. Of the uses of an account's
 * key, the first of each day is recorded: a record for each call would make a log of calls.
 */
export const apiKey: Decider<ApiKeyState, ApiKeyCommand, ApiKeyEvent, never> = {
  initial: null,
  evolve: (state, { type, data }) => {
    if (type === "ApiKeyUsed") return state === null ? null : { ...state, usedOn: data.day };
    const agent = type === "AgentKeyIssued" ? data.agent_id : null;
    return { account: data.account, agent, madeBy: data.made_by, usedOn: null };
  },
  decide: (command, state) => {
    if (command.type === "UseApiKey") {
      const { key_id, day, at } = command;
      // Another node may have recorded a use of this day; after a change of the time zone the day may be over already.
      if (state === null || !isFirstUse(state, day)) return accept();
      return accept({ type: "ApiKeyUsed", data: { account: state.account, key_id, day, at } });
    }
    if (state !== null) return accept();
    const { account, key_id, made_by, at } = command;
    return command.type === "IssueApiKey"
      ? accept({ type: "ApiKeyIssued", data: { account, key_id, made_by, at } })
      : accept({ type: "AgentKeyIssued", data: { account, agent_id: command.agent_id, key_id, made_by, at } });
  },
};
