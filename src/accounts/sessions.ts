import { type SessionMaker, session } from "../../domain/account/session.ts";
import type { Client } from "../../domain/personal/events.ts";
import type { Clock } from "../../domain/ports/clock.ts";
import type { Position } from "../../domain/ports/event-log.ts";
import type { Randomness } from "../../domain/ports/randomness.ts";
import { bearerKey, isBearerKey } from "../../infra/crypto/api-key.ts";
import { derivedId } from "../../infra/crypto/ids.ts";
import { LogUnavailable } from "../../infra/log-errors.ts";
import type { PersonalData } from "../erasure/personal-data.ts";
import { SESSION_COOKIE } from "../http/authenticate.ts";
import type { Slots } from "../ledgers/slots.ts";
import type { Aggregates } from "../streams/aggregates.ts";
import type { Envelope } from "../streams/envelope.ts";
import type { CredentialHashes } from "./credential-hashes.ts";

/** Seconds from the login, even if the session is in use, so that a stolen cookie expires. */
export const SESSION_LIFETIME_S = 14 * 24 * 60 * 60;
const TOKEN_BYTES = 32;
const TOKEN = /^[\w-]{43}$/;

const STREAM_PREFIX = "session-";
const ID = /^ses_[a-z2-7]{32}$/;

/** The id `ses_…` identifies a session but, unlike its token, grants no access. */
export const sessionIdOf = (stream: string): string => stream.slice(STREAM_PREFIX.length);

export const streamOfSession = (id: string): string | null => (ID.test(id) ? `${STREAM_PREFIX}${id}` : null);

const streamOfToken = (token: string): string => `${STREAM_PREFIX}${derivedId("ses_", token)}`;

/** Null for a malformed token. The name has a hash of the token, so that the log does not have the token. */
export const sessionStream = (token: string): string | null => (TOKEN.test(token) ? streamOfToken(token) : null);

/**
 * As `sessionStream`, for the session of a command line, whose token is a bearer token. Neither form of a token is valid
 * in the place of the other, so that no cookie escapes the rules for browsers.
 */
export const commandLineSessionStream = (token: string): string | null =>
  isBearerKey("css", token) ? streamOfToken(token) : null;

/** Browsers accept `Secure` on http://localhost too. With `Lax`, a link in a mail opens the console logged in. */
const ATTRIBUTES = "Path=/; Secure; HttpOnly; SameSite=Lax";

export const sessionCookie = (token: string): string =>
  `${SESSION_COOKIE}=${token}; ${ATTRIBUTES}; Max-Age=${SESSION_LIFETIME_S}`;

export const clearedSessionCookie = `${SESSION_COOKIE}=; ${ATTRIBUTES}; Max-Age=0`;

type OpenedSession = { readonly token: string; readonly position: Position };

export type SessionOf = { readonly account: string; readonly member: string; readonly epoch: number };

type SessionFrom = { readonly client: Client; readonly madeBy: SessionMaker };

export type Sessions = {
  /** The session's token is new, so that a cookie planted before the login is worthless after it. */
  open(of: SessionOf, from: SessionFrom, envelope: Envelope): Promise<OpenedSession>;
  /** The position of the session's end; undefined if there is no such session. */
  close(stream: string, envelope: Envelope): Promise<Position | undefined>;
};

type SessionsDeps = {
  readonly aggregates: Aggregates;
  readonly hashes: CredentialHashes;
  readonly personal: Pick<PersonalData, "keep">;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly slots: Pick<Slots, "register">;
  readonly makeRoom: (account: string, member: string, envelope: Envelope) => Promise<void>;
};

/** Tries to take a slot. A second try is needed only if another login took the room that was just made. */
const TRIES_MAX = 16;

export const sessions = (deps: SessionsDeps): Sessions => {
  const { aggregates, hashes, personal, clock, randomness, slots, makeRoom } = deps;
  return {
    async open(of, { client: from, madeBy }, envelope) {
      const secret = Buffer.from(randomness.bytes(TOKEN_BYTES));
      const token = madeBy === "browser" ? secret.toString("base64url") : bearerKey("css", secret);
      const id = derivedId("ses_", token);
      const expires_at = new Date(clock.now() + SESSION_LIFETIME_S * 1000).toISOString();
      const grant = { ...of, expires_at };
      const stream = `${STREAM_PREFIX}${id}`;
      const client = await personal.keep(stream, from, envelope);
      const mac = hashes.session(token, grant);
      const command = { type: "OpenSession", ...grant, mac, client, madeBy, at: envelope.at } as const;
      // The command id differs from the request's, which may append to other streams under its own.
      const named = { ...envelope, account: of.account, commandId: `open-${id}` };
      for (let tries = 0; tries < TRIES_MAX; tries += 1) {
        const opened = await slots.register({ kind: "sessions", id, decider: session, command, envelope: named });
        if (opened.outcome === "accepted") return { token, position: opened.position };
        if (opened.outcome !== "full") throw new Error("a random session token exists already");
        await makeRoom(of.account, of.member, named);
      }
      throw new LogUnavailable(`too many sessions of ${of.account} are being opened at once`);
    },

    async close(stream, envelope) {
      const closed = await aggregates.handle(session, stream, { type: "CloseSession", at: envelope.at }, envelope);
      return closed.outcome === "rejected" ? undefined : closed.position;
    },
  };
};
