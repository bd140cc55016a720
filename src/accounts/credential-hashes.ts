import { keyedHash } from "../../infra/crypto/keyed-hash.ts";

/** Whom a session stands for: a member, in the epoch of the password that it was opened with, until then. */
type SessionGrant = {
  readonly account: string;
  readonly member: string;
  readonly epoch: number;
  readonly expires_at: string;
};

type ApiKeyGrant = { readonly account: string; readonly role: string; readonly expires_at: string | null };

type RoleGrant = { readonly account: string; readonly member: string; readonly role: string };

type AgentKeyGrant = { readonly account: string; readonly agent: string };

/**
 * What the log keeps of a credential: a hash under a key that is not in the log, over the token and all that the token gives.
 * So a record that was rewritten in the log's file gives nothing, and neither does one that was made there.
 */
export type CredentialHashes = {
  session(token: string, grant: SessionGrant): string;
  apiKey(key: string, grant: ApiKeyGrant): string;
  agentKey(key: string, grant: AgentKeyGrant): string;
  /** Nothing is secret about a role: the hash shows that it was given here. */
  role(grant: RoleGrant): string;
  /** Of an e-mail address: a plain hash could be guessed. */
  address(email: string): string;
};

export const credentialHashes = (key: Uint8Array): CredentialHashes => {
  const [ofSession, ofApiKey] = [keyedHash(key, "sessions"), keyedHash(key, "api-keys")];
  const [ofAgentKey, ofRole] = [keyedHash(key, "agent-keys"), keyedHash(key, "roles")];
  return {
    session: (token, { account, member, epoch, expires_at }) =>
      ofSession(token, account, member, String(epoch), expires_at),
    apiKey: (apiKey, { account, role, expires_at }) => ofApiKey(apiKey, account, role, expires_at ?? ""),
    agentKey: (agentKey, { account, agent }) => ofAgentKey(agentKey, account, agent),
    address: keyedHash(key, "email-addresses"),
    role: ({ account, member, role }) => ofRole(account, member, role),
  };
};
