import { apiKey } from "../../../domain/account/api-key.ts";
import type { AgentKey } from "../../../domain/agent/events.ts";
import { bearerKey, keyId } from "../../../infra/crypto/api-key.ts";
import type { CredentialHashes } from "../../accounts/credential-hashes.ts";
import { apiKeyStream } from "../../accounts/credentials.ts";
import { credentialOf, makerOf } from "../../approvals/requesters.ts";
import type { Call } from "../../http/route.ts";
import type { Aggregates } from "../../streams/aggregates.ts";

const LAST = 4;

export type AgentKeysDeps = {
  readonly aggregates: Pick<Aggregates, "load" | "handle">;
  readonly hashes: CredentialHashes;
};

/** A repeat under the same Idempotency-Key derives the same key, so a crash before the answer loses no key. */
export const newKey = (
  { hashes }: AgentKeysDeps,
  { secret, principal: { account } }: Call,
  agent: string,
): { readonly key: string; readonly of: AgentKey } => {
  const key = bearerKey("csa", secret("agent-key"));
  const digest = hashes.agentKey(key, { account, agent });
  return { key, of: { key_id: keyId(key), digest, last4: key.slice(-LAST) } };
};

/** Records to which agent the key belongs. This comes before the agent's own record, so that every shown key works. */
export const issue = async (
  { aggregates }: AgentKeysDeps,
  call: Call,
  agentId: string,
  { key_id }: AgentKey,
): Promise<void> => {
  const { account } = call.principal;
  const { at } = call.envelope;
  const made_by = await makerOf(aggregates, credentialOf(call.principal));
  const command = { type: "IssueAgentKey", account, agent_id: agentId, key_id, made_by, at } as const;
  await aggregates.handle(apiKey, apiKeyStream(key_id), command, { ...call.envelope, commandId: `issue-${key_id}` });
};
