import { keyedHash } from "../../infra/crypto/keyed-hash.ts";

type SessionGrant = {
  readonly account: string;
  readonly member: string;
  readonly epoch: number;
  readonly expires_at: string;
};

type ApiKeyGrant = { readonly account: string; readonly role: string; readonly expires_at: string | null };

type RoleGrant = { readonly account: string; readonly member: string; readonly role: string };

type DeviceRequest = { readonly id: string; readonly expires_at: string };

type DeviceGrant = { readonly id: string; readonly account: string; readonly member: string; readonly epoch: number };

type AgentKeyGrant = { readonly account: string; readonly agent: string };

/** The log has keyed hashes of tokens and grants. The key is not in the log, so that a forged record grants nothing. */
export type CredentialHashes = {
  session(token: string, grant: SessionGrant): string;
  apiKey(key: string, grant: ApiKeyGrant): string;
  agentKey(key: string, grant: AgentKeyGrant): string;
  /** The hash of a role keeps nothing secret, but proves that this service has granted it. */
  role(grant: RoleGrant): string;
  /** Keyed, because a plain hash of an e-mail address could be guessed. */
  address(email: string): string;
  /** Keyed for the same reason: a user code is short. */
  userCode(code: string): string;
  deviceCode(secret: string, request: DeviceRequest): string;
  /** As `role`, for a member's approval of a command line's login. */
  deviceGrant(grant: DeviceGrant): string;
};

export const credentialHashes = (key: Uint8Array): CredentialHashes => {
  const [ofSession, ofApiKey] = [keyedHash(key, "sessions"), keyedHash(key, "api-keys")];
  const [ofAgentKey, ofRole] = [keyedHash(key, "agent-keys"), keyedHash(key, "roles")];
  const [ofDeviceCode, ofDeviceGrant] = [keyedHash(key, "device-codes"), keyedHash(key, "device-grants")];
  return {
    session: (token, { account, member, epoch, expires_at }) =>
      ofSession(token, account, member, String(epoch), expires_at),
    apiKey: (apiKey, { account, role, expires_at }) => ofApiKey(apiKey, account, role, expires_at ?? ""),
    agentKey: (agentKey, { account, agent }) => ofAgentKey(agentKey, account, agent),
    address: keyedHash(key, "email-addresses"),
    userCode: keyedHash(key, "user-codes"),
    deviceCode: (secret, { id, expires_at }) => ofDeviceCode(secret, id, expires_at),
    deviceGrant: ({ id, account, member, epoch }) => ofDeviceGrant(id, account, member, String(epoch)),
    role: ({ account, member, role }) => ofRole(account, member, role),
  };
};
