import { apiKey } from "../../domain/account/api-key.ts";
import { account, isExpired, type OpenAccount } from "../../domain/account/decider.ts";
import { holdsSession, type Member } from "../../domain/account/membership-state.ts";
import { session } from "../../domain/account/session.ts";
import { agent } from "../../domain/agent/decider.ts";
import type { Clock } from "../../domain/ports/clock.ts";
import { isBearerKey, keyId } from "../../infra/crypto/api-key.ts";
import { isSameHash } from "../../infra/crypto/keyed-hash.ts";
import type { Authenticate, PresentedCredential } from "../http/authenticate.ts";
import type { LapsedCredential } from "../http/problem-records.ts";
import type { Principal } from "../http/route.ts";
import { type Aggregates, STALENESS_MAX_MS } from "../streams/aggregates.ts";
import { accountStream } from "./accounts.ts";
import type { CredentialHashes } from "./credential-hashes.ts";
import { commandLineSessionStream, sessionIdOf, sessionStream } from "./sessions.ts";

type CredentialsDeps = {
  readonly aggregates: Aggregates;
  readonly hashes: CredentialHashes;
  readonly clock: Clock;
};

export const apiKeyStream = (id: string): string => `apikey-${id}`;
export const agentStream = (id: string): string => `agent-${id}`;

const credentialStreams = (principal: Principal): readonly string[] => {
  if (principal.kind === "agent") return [agentStream(principal.id)];
  const owner = accountStream(principal.account);
  return principal.kind === "member" ? [owner, principal.session] : [owner];
};

/** Calls `onChanged` when this node has changed something of the credential, until the returned function is called. */
export const watchCredential =
  (aggregates: Pick<Aggregates, "watch">, principal: Principal) =>
  (onChanged: () => void): (() => void) => {
    const watched = credentialStreams(principal).map((stream) => aggregates.watch(stream, onChanged));
    return () => {
      for (const stop of watched) stop();
    };
  };

/** A revoked credential is refused at once on the node that revoked it, elsewhere within `STALENESS_MAX_MS`. */
export const credentials = ({ aggregates, hashes, clock }: CredentialsDeps): Authenticate => {
  /** Reads past the cache before a refusal, because another node may just have made the credential. */
  const ofAccount = async <T>(id: string, find: (open: OpenAccount) => T | undefined): Promise<T | undefined> => {
    for (const maxAgeMs of [STALENESS_MAX_MS, 0]) {
      const { state } = await aggregates.load(account, accountStream(id), maxAgeMs);
      const found = state.phase === "open" ? find(state) : undefined;
      if (found !== undefined) return found;
    }
    return undefined;
  };

  const fromKey = async (key: string): Promise<Principal | null> => {
    if (!isBearerKey("csk", key)) return null;
    const id = keyId(key);
    const { state: issued } = await aggregates.load(apiKey, apiKeyStream(id));
    if (issued === null || issued.agent !== null) return null;
    const known = await ofAccount(issued.account, ({ keys }) => keys.get(id));
    const { account } = issued;
    if (known === undefined || !isSameHash(known.digest, hashes.apiKey(key, { account, ...known }))) return null;
    if (isExpired(known, new Date(clock.now()).toISOString())) return null;
    return { kind: "key", account, id, role: known.role };
  };

  const fromAgentKey = async (key: string): Promise<Principal | null> => {
    if (!isBearerKey("csa", key)) return null;
    const { state: issued } = await aggregates.load(apiKey, apiKeyStream(keyId(key)));
    if (issued === null || issued.agent === null) return null;
    for (const maxAgeMs of [STALENESS_MAX_MS, 0]) {
      const { state } = await aggregates.load(agent, agentStream(issued.agent), maxAgeMs);
      if (state.phase !== "present") continue;
      const { account, agentId } = state;
      if (!isSameHash(state.key.digest, hashes.agentKey(key, { account, agent: agentId }))) continue;
      return { kind: "agent", account, id: agentId };
    }
    return null;
  };

  const isGranted = ({ account, member }: { account: string; member: string }, { role, grant }: Member): boolean =>
    isSameHash(grant, hashes.role({ account, member, role }));

  const fromSession = async (token: string, stream: string | null): Promise<Principal | null> => {
    if (stream === null) return null;
    const { state } = await aggregates.load(session, stream);
    if (state.phase !== "open" || isExpired(state, new Date(clock.now()).toISOString())) return null;
    if (!isSameHash(state.mac, hashes.session(token, state))) return null;
    const opened = { id: sessionIdOf(stream), epoch: state.epoch };
    const member = await ofAccount(state.account, ({ members }) => {
      const found = members.get(state.member);
      return found !== undefined && holdsSession(found, opened) && isGranted(state, found) ? found : undefined;
    });
    if (member === undefined) return null;
    const { email, address, role } = member;
    return { kind: "member", account: state.account, id: state.member, email, address, role, session: stream };
  };

  return async ({ kind, token }) => {
    if (kind === "session") return fromSession(token, sessionStream(token));
    if (token.startsWith("css_")) return fromSession(token, commandLineSessionStream(token));
    return token.startsWith("csa_") ? fromAgentKey(token) : fromKey(token);
  };
};

/** Says whose credential was refused, and why. It is found by its hash, so the caller knows the real token. */
export const lapsedCredentials =
  ({ aggregates, clock }: Pick<CredentialsDeps, "aggregates" | "clock">) =>
  async ({ kind, token }: PresentedCredential): Promise<LapsedCredential | null> => {
    const now = new Date(clock.now()).toISOString();
    if (kind === "session" || token.startsWith("css_")) {
      const stream = kind === "session" ? sessionStream(token) : commandLineSessionStream(token);
      if (stream === null) return null;
      const { state } = await aggregates.load(session, stream);
      if (state.phase === "absent") return null;
      const why =
        state.phase === "open" && isExpired(state, now) ? "The session had expired." : "The session had ended.";
      return { account: state.account, actor: { kind: "member", id: state.member }, why };
    }
    const prefix = token.startsWith("csa_") ? "csa" : "csk";
    if (!isBearerKey(prefix, token)) return null;
    const id = keyId(token);
    const { state: issued } = await aggregates.load(apiKey, apiKeyStream(id));
    if (issued === null) return null;
    if (issued.agent !== null)
      return {
        account: issued.account,
        actor: { kind: "agent", id: issued.agent },
        why: "The agent's key was replaced, or the agent was deleted.",
      };
    const { state } = await aggregates.load(account, accountStream(issued.account));
    const known = state.phase === "open" ? state.keys.get(id) : undefined;
    const why = known !== undefined && isExpired(known, now) ? "The API key had expired." : "The API key was revoked.";
    return { account: issued.account, actor: { kind: "key", id }, why };
  };
