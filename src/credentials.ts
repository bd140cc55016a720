import { timingSafeEqual } from "node:crypto";
import { apiKey } from "../domain/account/api-key.ts";
import { account, isExpired } from "../domain/account/decider.ts";
import { session } from "../domain/account/session.ts";
import type { Clock } from "../domain/ports.ts";
import { isBearerKey, keyDigest, keyId } from "../infra/crypto/api-key.ts";
import { accountStream } from "./accounts.ts";
import type { Aggregates } from "./aggregates.ts";
import type { Authenticate } from "./http/authenticate.ts";
import type { Principal } from "./routes/route.ts";
import { sessionStream } from "./sessions.ts";

type CredentialsDeps = { readonly aggregates: Aggregates; readonly clock: Clock };

export const apiKeyStream = (id: string): string => `apikey-${id}`;

/** Both are hex of one length. */
const sameDigest = (a: string, b: string): boolean =>
  a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));

/** Session cookies and account keys. Two cached streams say all: what was closed, revoked or removed on this node is
 * refused at once, on another within `STALENESS_MAX_MS`. */
export const credentials = ({ aggregates, clock }: CredentialsDeps): Authenticate => {
  const openAccount = async (id: string) => {
    const { state } = await aggregates.load(account, accountStream(id));
    return state.phase === "open" ? state : null;
  };

  const fromKey = async (key: string): Promise<Principal | null> => {
    if (!isBearerKey("csk", key)) return null;
    const digest = keyDigest(key);
    const id = keyId(digest);
    const { state: issued } = await aggregates.load(apiKey, apiKeyStream(id));
    const known = issued && (await openAccount(issued.account))?.keys.get(id);
    if (!issued || !known || !sameDigest(known.digest, digest)) return null;
    if (isExpired(known, new Date(clock.now()).toISOString())) return null;
    return { kind: "key", account: issued.account, id, role: known.role };
  };

  const fromSession = async (token: string): Promise<Principal | null> => {
    const stream = sessionStream(token);
    if (stream === null) return null;
    const { state } = await aggregates.load(session, stream);
    if (state.phase !== "open" || isExpired(state, new Date(clock.now()).toISOString())) return null;
    const member = (await openAccount(state.account))?.members.get(state.member);
    if (member === undefined) return null;
    return { kind: "member", account: state.account, id: state.member, ...member, session: stream };
  };

  return async ({ kind, token }) => await (kind === "session" ? fromSession(token) : fromKey(token));
};
