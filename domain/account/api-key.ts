import { accept, type Decider } from "../decider.ts";
import type { ApiKeyEvent } from "./events.ts";

export type ApiKeyState = { readonly account: string } | null;

export type ApiKeyCommand = {
  readonly type: "IssueApiKey";
  readonly account: string;
  readonly key_id: string;
  readonly at: string;
};

/** Stream `apikey-<id>`: leads from a key to its account, and says nothing else. */
export const apiKey: Decider<ApiKeyState, ApiKeyCommand, ApiKeyEvent, never> = {
  initial: null,
  evolve: (_state, event) => ({ account: event.data.account }),
  decide: ({ account, key_id, at }, state) =>
    state === null ? accept({ type: "ApiKeyIssued", data: { account, key_id, at } }) : accept(),
};
